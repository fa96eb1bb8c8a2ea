import type { Changes, View } from '../../../src/kernel/batch/requests.ts'
import type { RunStore } from '../../../src/kernel/store/run-store.ts'
import type { MissionRecord } from '../../../src/kinds/mission/record.ts'
import { isEnd } from '../../../src/kinds/mission/states.ts'
import type { TaskRecord } from '../../../src/kinds/task/record.ts'
import { BUGS_AROUND_MISSIONS } from './bugs-around-missions.ts'

/** A bug outside the real code, to check that the simulation notices it. */
export interface MissionBug {
  says: string
  /** The invariants that may notice it first. */
  foundBy: readonly string[]
  /** What the rules see instead of what is there. */
  view?: (view: View) => View
  /** What is written instead of what was decided. */
  changes?: (changes: Changes) => Changes
  /** What is read outside of transactions. */
  reads?: {
    missions?: Partial<RunStore['missions']>
    verifications?: Partial<RunStore['verifications']>
    reports?: Partial<RunStore['reports']>
    routines?: Partial<RunStore['routines']>
    agents?: Partial<RunStore['agents']>
    followers?: Partial<RunStore['followers']>
    dueTasks?: RunStore['dueTasks']
    missedAmong?: RunStore['missedAmong']
  }
}

const seenAs = (view: View, change: (task: TaskRecord) => TaskRecord): View => ({
  ...view,
  records: new Map([...view.records].map(([id, task]) => [id, change(task)])),
})

/** The approved version of its plan, hidden (below zero) or not. */
const withApproved = (record: MissionRecord, sign: 1 | -1): MissionRecord => ({
  ...record,
  approved: record.approved && { ...record.approved, version: sign * Math.abs(record.approved.version) },
})

/** Without the changes that end a mission, as if nobody had locked it. */
function withoutEnds(changes: Changes): Changes {
  const { written } = changes.kinds.mission
  const ended = new Set(written.filter(({ phase }) => isEnd(phase)).map(({ uuid }) => uuid))
  const isEndOf = (uuid: unknown) => ended.has(uuid as string)
  return {
    ...changes,
    events: changes.events.filter(
      ({ type, payload }) => !type.startsWith('mission_') || !isEndOf(payload.missionId),
    ),
    kinds: {
      ...changes.kinds,
      mission: { ...changes.kinds.mission, written: written.filter(({ uuid }) => !isEndOf(uuid)) },
    },
  }
}

const bugs = {
  completionsAreCountedTwice: {
    says: 'A task that is completed is counted twice.',
    foundBy: ['countersAreRight'],
    changes: (changes) => ({
      ...changes,
      missions: {
        ...changes.missions,
        deltas: new Map(
          [...changes.missions.deltas].map(([id, delta]) => {
            const completed = delta.byState.get('completed') ?? 0
            const byState = new Map(delta.byState)
            if (completed > 0) byState.set('completed', completed * 2)
            return [id, { ...delta, byState }]
          }),
        ),
      },
    }),
  },
  gateIsNotChecked: {
    says: 'A claim by id does not look at the gate.',
    foundBy: ['gateIsKept'],
    view: (view) => ({
      ...view,
      gates: new Map(
        [...view.gates].map(([id, gate]) => [
          id,
          { ...gate, phase: 'running', closedBy: [], closedAt: null },
        ]),
      ),
    }),
  },
  verdictsAreSkipped: {
    says: 'A result that Baton should judge is accepted at once.',
    foundBy: ['resultsHaveVerdicts'],
    view: (view) =>
      seenAs(view, (task) =>
        task.verification === 'baton' && task.claimState === 'active'
          ? { ...task, verification: 'none' }
          : task,
      ),
  },
  makersJudge: {
    says: 'It is forgotten who may not judge a result.',
    foundBy: ['makersDoNotJudge'],
    view: (view) =>
      seenAs(view, (task) => (task.serves ? { ...task, serves: { ...task.serves, notAgents: [] } } : task)),
  },
  lastTaskDoesNotEndIt: {
    says: 'The end of the last task does not end its mission.',
    foundBy: ['endsWithItsTasks'],
    changes: (changes) => (changes.tasks.length > 0 ? withoutEnds(changes) : changes),
  },
  rulesAreIgnored: {
    says: 'Whatever a task depends on counts as completed.',
    foundBy: ['rulesHold', 'dependentsAreTold', 'continuesAfterTheirEnd'],
    view: (view) =>
      seenAs(view, (task) =>
        task.upstream
          ? { ...task, upstream: { ...task.upstream, rule: 'all_done', waiting: task.upstream.waiting && 1 } }
          : task,
      ),
  },
  plansAreApprovedAgain: {
    says: 'It is forgotten which plan was approved, until it is written again.',
    foundBy: ['plansAreApprovedOnce'],
    view: (view) => {
      const { mission } = view.kinds
      const seen = new Map(
        [...mission.seen].map(([uuid, one]) => [uuid, { ...one, record: withApproved(one.record, -1) }]),
      )
      return { ...view, kinds: { ...view.kinds, mission: { ...mission, seen } } }
    },
    changes: (changes) => {
      const { mission } = changes.kinds
      const written = mission.written.map((record) => withApproved(record, 1))
      return { ...changes, kinds: { ...changes.kinds, mission: { ...mission, written } } }
    },
  },
  verificationsComeTwice: {
    says: 'A verification has no key, so it is made again.',
    foundBy: ['oneVerificationPerResult'],
    view: (view) => ({
      ...view,
      storedReplies: new Map([...view.storedReplies].filter(([key]) => !key.startsWith('task verification'))),
    }),
  },
  firstEndIsEnough: {
    says: 'A task that continues after others does so when the first of them has ended.',
    foundBy: ['continuesAfterTheirEnd'],
    view: (view) =>
      seenAs(view, (task) =>
        task.upstream && task.continuation?.goesOnAfter
          ? { ...task, upstream: { ...task.upstream, waiting: task.upstream.waiting && 1 } }
          : task,
      ),
  },
  namesAreForgotten: {
    says: 'The names under which agents added tasks are forgotten.',
    foundBy: ['namesAreUsedOnce'],
    view: (view) => ({
      ...view,
      storedReplies: new Map([...view.storedReplies].filter(([key]) => !key.startsWith('task child-of'))),
    }),
  },
  missionsDoNotWait: {
    says: 'A mission that is to begin after another is due at once.',
    foundBy: ['missionsBeginAfterOthers'],
    changes: (changes) => {
      const { mission } = changes.kinds
      const written = mission.written.map((record) =>
        record.phase === 'pending' && record.afterId !== null
          ? { ...record, dueAt: record.createdAt }
          : record,
      )
      return { ...changes, kinds: { ...changes.kinds, mission: { ...mission, written } } }
    },
  },
  missionsAreForgotten: {
    says: 'Upkeep does not look at missions.',
    foundBy: [
      'gatesAreFollowed',
      'stoppedMissionsHaveEnded',
      'retriesAreDone',
      'missionsBegin',
      'planningGoesOn',
      'everythingEnds',
    ],
    reads: { missions: { toSettle: async () => [] } },
  },
  orphansAreLeft: {
    says: 'Verifications and planning that nothing waits for are left alone.',
    foundBy: ['servantsHaveReasons'],
    reads: { verifications: { orphans: async () => [] } },
  },
  resultsAreForgotten: {
    says: 'What is due is not found, so nobody looks after a result whose verification was lost.',
    foundBy: ['resultsAreLookedAfter', 'everythingEnds', 'servantsHaveReasons'],
    reads: { dueTasks: async () => [] },
  },
  dependentsAreForgotten: {
    says: 'Dependents that were not notified are not found.',
    foundBy: ['dependentsAreTold', 'everythingEnds'],
    reads: { missedAmong: async () => [] },
  },
  ...BUGS_AROUND_MISSIONS,
} satisfies Record<string, MissionBug>

export type MissionBugName = keyof typeof bugs
export const MISSION_BUGS: Record<MissionBugName, MissionBug> = bugs
