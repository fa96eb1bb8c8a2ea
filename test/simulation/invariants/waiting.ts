import { isTerminal, type TaskState } from '../../../src/pure/states.ts'
import type { SeenTask, Sight } from '../observer.ts'
import type { TaskInvariant, WorldInvariant } from './invariant.ts'

/** Tasks that wait for others, and which of those wait as well. */
function waitingFor({ tasks }: Sight): Map<SeenTask, SeenTask[]> {
  const byUuid = new Map([...tasks.values()].map((task) => [task.record.uuid, task]))
  const waits = ({ record: { blocked, state } }: SeenTask) => blocked && !isTerminal(state)
  return new Map(
    [...tasks.values()]
      .filter(waits)
      .map((task) => [
        task,
        task.waitsFor.map((uuid) => byUuid.get(uuid)!).filter((other) => other && waits(other)),
      ]),
  )
}

function reachedFrom(task: SeenTask, graph: ReadonlyMap<SeenTask, SeenTask[]>): Set<SeenTask> {
  const reached = new Set<SeenTask>()
  const border = [...graph.get(task)!]
  for (let next = border.pop(); next; next = border.pop()) {
    if (reached.has(next)) continue
    reached.add(next)
    border.push(...graph.get(next)!)
  }
  return reached
}

const cyclesAreFound: WorldInvariant = {
  says: 'Of tasks that wait for each other one is due, or paused: upkeep or a person will check it.',
  broken: (sight) => {
    const graph = waitingFor(sight)
    const reach = new Map([...graph.keys()].map((task) => [task, reachedFrom(task, graph)]))
    for (const [task, reached] of reach) {
      if (!reached.has(task)) continue
      const cycle = [...reached].filter((other) => reach.get(other)!.has(task))
      const moves = cycle.some(({ record }) => record.dueAt !== null || record.state === 'paused')
      if (!moves) return `${cycle.map(({ record }) => record.id).join(', ')} wait for each other`
    }
    return null
  },
}

const cycleFailureMeansCycle: WorldInvariant = {
  says: 'Tasks fail because they wait for each other only if the whole cycle fails together.',
  broken: ({ newEvents, tasks }) => {
    for (const { type, payload, seq } of newEvents) {
      if (type !== 'dependency_cycle_found') continue
      const cycle = payload.cycle as string[]
      for (const [i, uuid] of cycle.entries()) {
        const task = [...tasks.values()].find(({ record }) => record.uuid === uuid)!
        const failed = task.events.some(
          (event) =>
            event.type === 'task_failed' &&
            event.payload.reason === 'dependency_cycle' &&
            newEvents.some((news) => news.seq === event.seq),
        )
        if (!failed) return `event ${seq} names task ${task.record.id}, which did not fail`
        const next = cycle[(i + 1) % cycle.length]!
        if (!task.waitsFor.includes(next)) return `task ${task.record.id} does not wait for ${next}`
      }
    }
    return null
  },
}

const unblockedMeansEnded: WorldInvariant = {
  says: 'A task continues because its dependencies are done only when each of them has ended before, or one completed.',
  broken: ({ changed, tasks }) => {
    for (const { record, news, waitsFor, dependencies } of changed) {
      const on = news.find(
        ({ type, payload }) => type === 'task_queued' && payload.because === 'dependencies_met',
      )
      if (!on) continue
      const upstream = [...tasks.values()].filter((task) => waitsFor.includes(task.record.uuid))
      const has = ({ events }: SeenTask, isIt: (to: TaskState) => boolean) =>
        events.some(({ to, seq }) => to !== null && isIt(to as TaskState) && seq < on.seq)
      const isOne = record.merge === 'none' && dependencies[0]?.triggerRule === 'one_success'
      if (isOne && upstream.some((task) => has(task, (to) => to === 'completed'))) continue
      const open = upstream.find((task) => !has(task, isTerminal))
      if (open) return `task ${record.id} continued but task ${open.record.id} has never ended`
    }
    return null
  },
}

const blockedMeansWaiting: TaskInvariant = {
  says: 'A task that is blocked waits for something, and nothing that is queued or held is blocked.',
  broken: ({ record: { state, blocked }, waitsFor }) =>
    blocked &&
    (waitsFor.length === 0 || (state !== 'pending' && state !== 'paused' && !isTerminal(state))) &&
    `${state}, blocked, waits for ${waitsFor.length}`,
}

export const waitingInvariants = {
  cyclesAreFound: cyclesAreFound,
  cycleFailureMeansCycle: cycleFailureMeansCycle,
  unblockedMeansEnded,
}
export const waitingTaskInvariants = { blockedMeansWaiting }
