import { EVENTS } from '../../../src/kinds/catalogue.ts'
import type { MissionRecord } from '../../../src/kinds/mission/record.ts'
import {
  isEnd,
  MISSION_TRANSITIONS,
  type MissionProgress,
  type MissionTransition,
  moved,
  NEW,
} from '../../../src/kinds/mission/states.ts'
import type { Purpose, TaskRecord } from '../../../src/kinds/task/record.ts'
import type { UpstreamOutcome } from '../../../src/kinds/task/rules/upstream-counts.ts'
import type { Workspace } from '../../../src/memory/workspace.ts'
import { isHeld, isTerminal, type TriggerRule } from '../../../src/pure/states.ts'
import { childrenInvariants } from './children-invariants.ts'
import { contractorInvariants } from './contractor-invariants.ts'
import { reportInvariants } from './report-invariants.ts'
import { routineInvariants } from './routine-invariants.ts'
import type { Seen } from './seen.ts'
import { verdictInvariants } from './verdict-invariants.ts'

export type Broken = string | false | null | undefined
export interface Invariant {
  says: string
  broken: (now: Workspace, seen: Seen) => Broken
}

const workOf = ({ tasks }: Workspace, { id }: MissionRecord): TaskRecord[] =>
  [...tasks.values()].filter(({ missionId, purpose }) => missionId === id && purpose === 'work')

/** What a gate lets through, in words of its own: the rules must not be their own judge. */
export function maybeHandedOut({ phase, closedBy }: MissionProgress, purpose: Purpose): boolean {
  if (isEnd(phase)) return purpose === 'report'
  if (closedBy.includes('paused') || closedBy.includes('budget') || closedBy.includes('cancelling'))
    return false
  if (phase === 'running') return true
  return phase !== 'pending' && purpose === 'planning'
}

/** Whether these outcomes let a task run; null: not yet, or never. */
export function holds(rule: TriggerRule, outcomes: readonly (UpstreamOutcome | null)[]): boolean {
  const all = (...wanted: readonly (UpstreamOutcome | null)[]) =>
    outcomes.every((outcome) => wanted.includes(outcome))
  switch (rule) {
    case 'always':
      return true
    case 'all_success':
      return all('completed')
    case 'none_failed':
      return all('completed', 'cancelled', 'skipped')
    case 'all_done':
      return all('completed', 'cancelled', 'skipped', 'failed')
    case 'one_success':
      return outcomes.includes('completed')
  }
}

/** After every commit. */
export const ALWAYS: Record<string, Invariant> = {
  countersAreRight: {
    says: 'The counters of a mission are the number of its tasks in each state.',
    broken: (now) => {
      for (const mission of now.missions.values()) {
        const work = workOf(now, mission)
        const states = new Map<string, number>()
        for (const { state } of work) states.set(state, (states.get(state) ?? 0) + 1)
        const failedOptional = work.filter(({ state, optional }) => state === 'failed' && optional).length
        const { byState, failedOptional: counted } = mission.counts
        const names = new Set([...states.keys(), ...Object.keys(byState)])
        for (const name of names) {
          const [is, should] = [byState[name as keyof typeof byState] ?? 0, states.get(name) ?? 0]
          if (is !== should) return `mission ${mission.id} counts ${is} as ${name}; there are ${should}`
        }
        if (counted !== failedOptional)
          return `mission ${mission.id} counts ${counted} optional failures; there are ${failedOptional}`
      }
      return null
    },
  },
  unseenMeansEnded: {
    says: 'Only a mission that completed or failed waits to be seen.',
    broken: (now) => {
      for (const { id, unseen, phase } of now.missions.values())
        if (unseen && phase !== 'completed' && phase !== 'failed') return `mission ${id} is ${phase}`
      return null
    },
  },
  endsWithItsTasks: {
    says: 'A mission that runs ends when, and only when, its tasks have ended; a retry that is under way keeps it open.',
    broken: (now) => {
      for (const mission of now.missions.values()) {
        const open = workOf(now, mission).filter(({ state }) => !isTerminal(state))
        const { id, phase, closedBy, retryAt } = mission
        if (isEnd(phase) && open.length > 0)
          return `mission ${id} is ${phase}, and task ${open[0]!.id} is ${open[0]!.state}`
        const isUnderWay = phase === 'running' || closedBy.includes('cancelling')
        if (isUnderWay && open.length === 0 && retryAt === null)
          return `mission ${id} is ${phase}, and none of its tasks is open`
      }
      return null
    },
  },
  missionsFollowTheirLog: {
    says: 'The phase and the gate of a mission are what its events lead to.',
    broken: (now, seen) => {
      for (const { uuid, id, phase, closedBy } of now.missions.values()) {
        let progress: MissionProgress | typeof NEW = seen.missions.get(uuid) ?? NEW
        for (const { type, payload } of seen.news)
          if (payload.missionId === uuid && type in MISSION_TRANSITIONS)
            progress = moved(type as MissionTransition, progress)
        const led = progress as MissionProgress
        if (led.phase !== phase || [...led.closedBy].sort().join() !== [...closedBy].sort().join())
          return `mission ${id} is ${phase} (${closedBy}); its events lead to ${led.phase} (${led.closedBy})`
      }
      return null
    },
  },
  gateIsKept: {
    says: 'No task is handed out while the gate of its mission is closed for its purpose.',
    broken: (now, seen) => {
      for (const { task, agent, at } of seen.granted(now)) {
        const mission = task.missionId === null ? undefined : seen.missionOf(task.missionId)
        // In one commit with its opening, it comes after that.
        const isMoved = seen.news.slice(0, at).some(({ payload }) => payload.missionId === mission?.uuid)
        if (!mission || isMoved || maybeHandedOut(mission, task.purpose)) continue
        return `${agent} got task ${task.id} (${task.purpose}) of a mission that is ${mission.phase}, closed by ${mission.closedBy}`
      }
      return null
    },
  },
  maxParallelIsKept: {
    says: 'No more tasks of a mission are held than it may have at once.',
    broken: (now, seen) => {
      for (const { task } of seen.granted(now)) {
        const mission = task.missionId === null ? undefined : seen.missionOf(task.missionId)
        const most = mission?.config.maxParallel
        if (!mission || most === undefined || task.purpose !== 'work') continue
        const held = workOf(now, mission).filter(({ state }) => isHeld(state)).length
        if (held > most) return `${held} tasks of mission ${mission.id} are held`
      }
      return null
    },
  },
  rulesHold: {
    says: 'No task is claimed before what it depends on has ended as its rule demands, unless a person queued it.',
    broken: (now, seen) => {
      for (const { task } of seen.granted(now)) {
        const edges = [...(now.dependencies.get(task.id) ?? [])]
        if (edges.length === 0 || seen.pushed.has(task.id)) continue
        // It was ready before it continued after others.
        if (task.continuation?.wentOnAfter) continue
        const outcomes = edges.map(([, { outcome }]) => outcome)
        const rule = task.merge === 'none' ? edges[0]![1].rule : 'all_success'
        if (!holds(rule, outcomes)) return `task ${task.id} was claimed: ${rule} of ${outcomes}`
        const never = edges.find(([on, { outcome }]) => outcome && !seen.ends.get(on)?.has(outcome))
        if (never)
          return `task ${task.id} counted task ${never[0]} as ${never[1].outcome}, which it never was`
      }
      return null
    },
  },
  plansAreApprovedOnce: {
    says: 'A version of a plan is approved at most once.',
    broken: (_, seen) => {
      for (const { type, payload } of seen.news) {
        if (type !== 'mission_approved' && type !== 'mission_plan_changed') continue
        const name = `${payload.missionId}/${payload.version}`
        if (seen.approved.has(name)) return `version ${payload.version}, again`
        seen.approved.add(name)
      }
      return null
    },
  },
  plansAreKept: {
    says: 'Versions of a plan are numbered without a gap, and the mission has the newest one; or the one it follows, when the newest was rejected.',
    broken: (now) => {
      for (const { uuid, id, plan, approved, rejected } of now.missions.values()) {
        const versions = (now.missionPlans.get(uuid) ?? []).map(({ version }) => version)
        const isGapless = versions.every((version, i) => version === i + 1)
        if (approved && rejected.includes(approved.version)) return `mission ${id} follows a rejected plan`
        const last = versions.at(-1)
        const newest = approved && rejected.includes(last!) ? approved.version : last
        if (!isGapless || plan?.version !== newest)
          return `mission ${id} has plan ${plan?.version}; kept are ${versions}`
      }
      return null
    },
  },
  ...verdictInvariants,
  ...childrenInvariants,
  ...contractorInvariants,
  ...reportInvariants,
  ...routineInvariants,
  eventsFit: {
    says: 'The payload of every event fits the catalogue.',
    broken: (_, seen) => {
      const wrong = seen.news.find(({ type, payload }) => !EVENTS[type].safeParse(payload).success)
      return wrong && `${wrong.type} ${JSON.stringify(wrong.payload)}`
    },
  },
}
