import type { WorkFolders } from '../../../src/executor/work/folders.ts'
import type { Changes } from '../../../src/kernel/batch/requests.ts'
import type { RunStore } from '../../../src/kernel/store/run-store.ts'
import { statusChange } from '../../../src/kinds/run/rules/agent-status.ts'
import type { RunsChanges, RunsView } from '../../../src/kinds/run/rules/step.ts'
import { isOver } from '../../../src/kinds/run/states.ts'
import type { RunWorld } from './world.ts'

/** A bug outside the real code, to check that the simulation notices it. */
export interface RunBug {
  says: string
  /** The invariants that may notice it first. */
  foundBy: readonly string[]
  /** What the rules see instead of what is there. */
  view?: (view: RunsView) => RunsView
  /** What is written instead of what was decided. */
  changes?: (changes: RunsChanges, view: RunsView) => RunsChanges
  /** The same of a batch of requests on tasks and the kinds beside them. */
  batch?: (changes: Changes) => Changes
  wakeups?: Partial<RunStore['wakeups']>
  runs?: Partial<RunStore['runs']>
  cluster?: Partial<RunStore['cluster']>
  folders?: (folders: WorkFolders, world: RunWorld) => Partial<WorkFolders>
}

const bugs = {
  slotsAreNotCounted: {
    says: 'Dispatch does not count one of the runs that an agent has.',
    // Which of the two comes first depends on the seed: the same figure says whether the agent runs.
    foundBy: ['slotsAreKept', 'agentsSayWhetherTheyRun'],
    view: (view) => ({
      ...view,
      firstDue: new Map(
        [...view.firstDue].map(([agent, due]) => [agent, { ...due, live: Math.max(due.live - 1, 0) }]),
      ),
    }),
  },
  eachRunStartsItsAgent: {
    says: 'Every run makes its agent running, also beside another one.',
    foundBy: ['agentsSayWhetherTheyRun'],
    changes: (changes, view) => ({
      ...changes,
      events: changes.events.flatMap((event) => {
        const agent = event.type === 'run_queued' && view.agents.get(event.payload.agent as string)
        return agent ? [event, ...statusChange(agent, { before: 0, after: 1 }, view.now)] : [event]
      }),
    }),
  },
  eachEndLeavesItsAgentIdle: {
    says: 'Every end of a run leaves its agent idle, also while another run of it is live.',
    foundBy: ['agentsSayWhetherTheyRun'],
    view: (view) => ({
      ...view,
      liveRuns: new Map([...view.liveRuns].map(([agent]) => [agent, 1])),
    }),
  },
  lostRunsLeaveTheirAgentsRunning: {
    says: 'The end of a run whose node died says nothing about its agent.',
    foundBy: ['agentsSayWhetherTheyRun'],
    changes: (changes) =>
      changes.runs.some(({ set }) => set.errorCode === 'control_plane_restart')
        ? { ...changes, events: changes.events.filter(({ type }) => type !== 'agent_status_changed') }
        : changes,
  },
  runsShareClaims: {
    says: 'Every run begins under the first claim of the first task.',
    // Two at once are refused by the store; one at a time leaves its own claim alone.
    foundBy: ['nothingFails', 'claimsAreWorkedOn', 'everyTaskEnds', 'eventsFit', 'workIsKept'],
    changes: (changes) => ({
      ...changes,
      runs: changes.runs.map(({ id, set }) =>
        set.startedAt == null ? { id, set } : { id, set: { ...set, taskId: 1, generation: 1 } },
      ),
    }),
  },
  wakeupsStayQueued: {
    says: 'A wakeup that became a run stays queued.',
    // The table does not let its run end it.
    foundBy: ['oneRunPerWakeup', 'wakeupsEndOnce', 'nothingFails'],
    changes: (changes) => (changes.newRuns.length > 0 ? { ...changes, wakeups: [] } : changes),
  },
  runsEndTwice: {
    says: 'The end of a run does not check whether it has ended.',
    foundBy: ['runsMoveByTheTable', 'totalsAreSums', 'wakeupsEndOnce'],
    view: (view) => ({
      ...view,
      runs: new Map(
        [...view.runs].map(([id, run]) => [id, isOver(run.status) ? { ...run, status: 'running' } : run]),
      ),
    }),
  },
  failuresAreNotAddedUp: {
    says: 'Runs that failed are missing in the totals.',
    foundBy: ['totalsAreSums'],
    changes: (changes) =>
      changes.runs.some(({ set }) => set.status === 'failed') ? { ...changes, runtime: [] } : changes,
  },
  wakeupsOutliveTheirRuns: {
    says: 'A wakeup does not end with its run.',
    foundBy: ['wakeupsEndOnce'],
    changes: (changes) =>
      changes.runs.some(({ set }) => set.finishedAt != null) ? { ...changes, wakeups: [] } : changes,
  },
  workIsForgotten: {
    says: 'An assignment whose wakeup was lost is not found again.',
    foundBy: ['claimsAreWorkedOn', 'everyTaskEnds'],
    wakeups: { workWithout: async () => [] },
  },
  lostNodesAreForgotten: {
    says: 'Nobody looks for the runs of dead nodes.',
    foundBy: ['deadNodesHaveNoRuns'],
    cluster: { nodesWithRuns: async () => [] },
  },
  lostClaimsAreForgotten: {
    says: 'What a dead node had claimed before it recorded its run is left to its lease.',
    foundBy: ['claimsAreWorkedOn'],
    runs: { claimsWithout: async () => [], claimsLeft: async () => [] },
  },
  attemptsStartAtTheBase: {
    says: 'A new attempt starts at the base, whatever was done before.',
    foundBy: ['workIsKept'],
    folders: ({ prepare }) => ({ prepare: (request) => prepare({ ...request, start: null }) }),
  },
  uncommittedWorkIsForgotten: {
    says: 'What a program did not commit is not saved.',
    foundBy: ['workIsKept'],
    folders: ({ save }, { repository }) => ({
      save: async (worktree, about) => ({
        ...(await save(worktree, about)),
        commit: repository.commit(new Set()),
      }),
    }),
  },
} satisfies Record<string, RunBug>

export type RunBugName = keyof typeof bugs
export const RUN_BUGS: Record<RunBugName, RunBug> = bugs
