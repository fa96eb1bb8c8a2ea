import { isEnd } from '../../../src/kinds/mission/states.ts'
import type { TaskRecord } from '../../../src/kinds/task/record.ts'
import type { Workspace } from '../../../src/memory/workspace.ts'
import type { Broken, Invariant } from './invariants.ts'

/** Tasks that agents add, tasks that continue after others, and missions that begin after others. */

const MOST_CHILDREN = 100
const DEEPEST = 3

const depthOf = ({ children }: TaskRecord) => children?.childDepth ?? 0

/** Its depth is one more than that of the task that added it, which is of the same mission. */
function whyMisplaced({ tasks, details }: Workspace, child: TaskRecord): Broken {
  const adder = [...tasks.values()].find(({ uuid }) => uuid === details.get(child.id)!.plan?.childOf)
  if (!adder) return `task ${child.id} was added by nobody`
  if (adder.missionId !== child.missionId)
    return `task ${child.id} is of another mission than task ${adder.id}`
  const [depth, above] = [depthOf(child), depthOf(adder)]
  if (depth !== above + 1 || depth > DEEPEST) return `task ${child.id} is ${depth} deep, below ${above}`
  return child.priority > adder.priority && `task ${child.id} is more important than task ${adder.id}`
}

export const childrenInvariants: Record<string, Invariant> = {
  childrenAreInPlace: {
    says: 'A task that an agent adds is of the same mission, a level deeper, three at most; a mission has a hundred, and counts them.',
    broken: (now) => {
      const children = [...now.tasks.values()].filter((task) => depthOf(task) > 0)
      for (const { id, counts } of now.missions.values()) {
        const own = children.filter(({ missionId }) => missionId === id).length
        if (own !== counts.children || own > MOST_CHILDREN)
          return `mission ${id} counts ${counts.children} tasks of agents; there are ${own}`
      }
      for (const child of children) {
        const why = whyMisplaced(now, child)
        if (why) return why
      }
      return null
    },
  },
  namesAreUsedOnce: {
    says: 'A task adds at most one other under each name.',
    broken: ({ tasks, details }) => {
      const used = new Map<string, number>()
      for (const { id } of tasks.values()) {
        const { childOf, tempId } = details.get(id)!.plan ?? {}
        if (childOf === undefined || tempId === null) continue
        const name = `${childOf} ${tempId}`
        if (used.has(name)) return `tasks ${used.get(name)} and ${id} are both ${tempId} of the same task`
        used.set(name, id)
      }
      return null
    },
  },
  continuesAfterTheirEnd: {
    says: 'A task that continues after others is not claimed before each of them has ended, unless a person queued it.',
    broken: (now, seen) => {
      for (const { task, at } of seen.granted(now)) {
        const later = seen.later.get(task.id)
        if (!later || later.seq > seen.news[at]!.seq || seen.pushed.has(task.id)) continue
        for (const uuid of later.after) {
          const other = [...now.tasks.values()].find((one) => one.uuid === uuid)!
          const counted = now.dependencies.get(task.id)?.get(other.id)?.outcome ?? null
          if (counted === null || !seen.ends.get(other.id)?.has(counted))
            return `task ${task.id} was claimed, and task ${other.id} had not ended (${other.state})`
        }
      }
      return null
    },
  },
  missionsBeginAfterOthers: {
    says: 'A mission that is to begin after another begins only when that one has ended.',
    broken: ({ missions }, seen) => {
      for (const { type, payload, from, to } of seen.news) {
        const begins = from === 'pending' && ['planning', 'awaiting_approval', 'running'].includes(to ?? '')
        const mission = begins ? missions.get(payload.missionId as string) : undefined
        const afterId = mission?.afterId ?? null
        if (afterId !== null && !seen.endedMissions.has(afterId))
          return `mission ${mission!.id} begins (${type}), and mission ${afterId} has never ended`
      }
      return null
    },
  },
}

/** Noted when it ends: it may be opened again. */
export const hasEnded = (to: unknown) => typeof to === 'string' && isEnd(to as Parameters<typeof isEnd>[0])
