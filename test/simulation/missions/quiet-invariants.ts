import { isEnd } from '../../../src/kinds/mission/states.ts'
import { outcomeOf } from '../../../src/kinds/task/rules/upstream-counts.ts'
import type { Workspace } from '../../../src/memory/workspace.ts'
import { isHeld, isTerminal } from '../../../src/pure/states.ts'
import { contractorsAfterQuiet } from './contractor-invariants.ts'
import { type Broken, holds, maybeHandedOut } from './invariants.ts'
import { reportsAfterQuiet } from './report-invariants.ts'
import { routinesAfterQuiet } from './routine-invariants.ts'

const missionOf = ({ missions }: Workspace, missionId: number | null) =>
  [...missions.values()].find(({ id }) => id === missionId)

/** When nobody has acted for longer than upkeep needs to repair what was lost. */
export const AFTER_QUIET: Record<string, { says: string; broken: (now: Workspace, at: number) => Broken }> = {
  stoppedMissionsHaveEnded: {
    says: 'A mission that was cancelled or stopped has ended.',
    broken: ({ missions }) => {
      const left = [...missions.values()].find(({ closedBy }) => closedBy.includes('cancelling'))
      return left && `mission ${left.id} is ${left.phase}, closed by ${left.closedBy}`
    },
  },
  retriesAreDone: {
    says: 'A retry that was asked for is under way.',
    broken: ({ missions }) => {
      const left = [...missions.values()].find(({ phase, retryAt }) => !isEnd(phase) && retryAt !== null)
      return left && `mission ${left.id} is still to be retried`
    },
  },
  planningGoesOn: {
    says: 'A mission is being planned only while a task plans it.',
    broken: ({ missions, tasks }) => {
      for (const { id, phase } of missions.values()) {
        if (phase !== 'planning') continue
        const isPlanned = [...tasks.values()].some(
          ({ missionId, purpose, state }) => missionId === id && purpose === 'planning' && !isTerminal(state),
        )
        if (!isPlanned) return `nobody plans mission ${id}`
      }
      return null
    },
  },
  missionsBegin: {
    says: 'A mission begins when its time has come.',
    broken: (now) => {
      for (const { id, phase, afterId, dueAt, closedBy } of now.missions.values()) {
        const before = missionOf(now, afterId)
        const isAwaiting = before && !isEnd(before.phase)
        if (phase === 'pending' && closedBy.length === 0 && !isAwaiting)
          return `mission ${id} has not begun; it is due at ${dueAt}`
      }
      return null
    },
  },
  servantsHaveReasons: {
    says: 'A verification is open only while its result waits, and planning only while its mission is being planned.',
    broken: (now) => {
      for (const { id, purpose, state, serves, missionId } of now.tasks.values()) {
        if (isTerminal(state)) continue
        if (purpose === 'planning' && missionOf(now, missionId)?.phase !== 'planning')
          return `task ${id} plans a mission that is ${missionOf(now, missionId)?.phase}`
        if (purpose !== 'verification') continue
        const judged = now.tasks.get(serves!.taskId)!
        if (judged.state !== 'verifying' || judged.generation !== serves!.generation)
          return `task ${id} judges generation ${serves!.generation} of task ${judged.id}, which is ${judged.state} at ${judged.generation}`
      }
      return null
    },
  },
  resultsAreLookedAfter: {
    says: 'A result waits for a verdict of Baton only while a task judges it.',
    broken: ({ tasks }) => {
      for (const { id, state, verification, generation } of tasks.values()) {
        if (state !== 'verifying' || verification !== 'baton') continue
        const isJudged = [...tasks.values()].some(
          ({ serves, state: judge }) =>
            serves?.taskId === id && serves.generation === generation && !isTerminal(judge),
        )
        if (!isJudged) return `nobody judges task ${id}`
      }
      return null
    },
  },
  gatesAreFollowed: {
    says: 'Nothing is held in a mission that is closed, and nothing is paused with a mission that is open.',
    broken: (now) => {
      for (const { id, state, continuation, missionId, purpose } of now.tasks.values()) {
        const mission = missionOf(now, missionId)
        if (!mission) continue
        const isOpen = maybeHandedOut(mission, purpose)
        if (isHeld(state) && !isOpen) return `task ${id} is ${state}; its mission is closed`
        if (state === 'paused' && continuation?.pausedByMission && isOpen)
          return `task ${id} is paused with its mission, which is open`
      }
      return null
    },
  },
  ...contractorsAfterQuiet,
  ...reportsAfterQuiet,
  ...routinesAfterQuiet,
  dependentsAreTold: {
    says: 'A task waits only for tasks that have not ended.',
    broken: ({ tasks, dependencies }) => {
      for (const { id, state, blocked, merge, continuation } of tasks.values()) {
        if (!blocked || state !== 'pending') continue
        const after = continuation?.goesOnAfter
        const edges = [...(dependencies.get(id) ?? [])].filter(([on]) => !after || after.includes(on))
        const outcomes = edges.map(([on]) => outcomeOf(tasks.get(on)!.state))
        const rule = after ? 'all_done' : merge === 'none' ? edges[0]![1].rule : 'all_success'
        if (holds(rule, outcomes) || !outcomes.includes(null))
          return `task ${id} waits: ${rule} of ${outcomes}`
      }
      return null
    },
  },
}

export const LAST = {
  everythingEnds: 'In a calm world every mission and every task ends.',
  nothingFails: 'No step fails because of a fault inside Baton.',
}
