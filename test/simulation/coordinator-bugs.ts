import type { Changes, View } from '../../src/kernel/batch/requests.ts'
import type { AgentRecord } from '../../src/kinds/agent/record.ts'
import type { SeenOf } from '../../src/kinds/kind.ts'
import type { KnownAgent } from '../../src/kinds/task/command.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import type { PlantedBug } from './planted-bug.ts'
import { onCommand } from './planting.ts'

/** The view with agents that claim looking different from what they are. */
const withClaimingAgents = (view: View, change: (record: AgentRecord) => Partial<AgentRecord>): View => ({
  ...view,
  claimingAgents: new Map(
    [...view.claimingAgents].map(([slug, { record, held }]): [string, KnownAgent] => [
      slug,
      { record: { ...record, ...change(record) }, held },
    ]),
  ),
})

/** The same of agents that a command of this kind is about to change. */
const withAgents = (view: View, change: (agent: SeenOf<'agent'>) => SeenOf<'agent'>): View => {
  const { agent } = view.kinds
  const seen = new Map([...agent.seen].map(([slug, one]) => [slug, change(one)]))
  return { ...view, kinds: { ...view.kinds, agent: { ...agent, seen } } }
}

/** What is written, with the affected tasks changed. */
const whereThereWas = (
  changes: Changes,
  is: (event: Changes['events'][number]) => boolean,
  change: (task: TaskRecord) => Partial<TaskRecord>,
): Changes => {
  const ids = new Set(changes.events.filter(is).map(({ taskId }) => taskId))
  return {
    ...changes,
    tasks: changes.tasks.map((task) => (ids.has(task.id) ? { ...task, ...change(task) } : task)),
  }
}

export const coordinatorBugs = {
  agentLimitIsAHint: {
    says: 'The limit of tasks of an agent is not checked.',
    foundBy: ['agentsHoldWhatTheyMay'],
    view: (view) => withClaimingAgents(view, () => ({ maxConcurrentTasks: null })),
  },
  countsBeforeTheLock: {
    says: 'An agent that claims beside its heartbeat is counted with what it held before its lock.',
    foundBy: ['agentsHoldWhatTheyMay'],
    view: (view) => ({
      ...view,
      claimingAgents: new Map(
        [...view.claimingAgents].map(([slug, { record, held }]): [string, KnownAgent] => [
          slug,
          { record, held: view.kinds.agent.seen.get(slug)?.holding.length ?? held },
        ]),
      ),
    }),
  },
  pausedAgentsGetWork: {
    says: 'A paused agent is assigned work like any other.',
    foundBy: ['whoMayNotGetsNothing'],
    view: (view) => withClaimingAgents(view, ({ state }) => ({ state: state === 'paused' ? 'idle' : state })),
  },
  leavingAgentsGetWork: {
    says: 'A leaving agent keeps getting work.',
    foundBy: ['whoMayNotGetsNothing'],
    view: (view) => withClaimingAgents(view, () => ({ leaving: false })),
  },
  oldTermsCount: {
    says: 'A former leader is treated as the leader.',
    foundBy: ['termsAreObeyed'],
    view: (view, envelopes) => ({
      ...view,
      terms: new Set(envelopes.map(({ request }) => request.term).filter((term) => term !== undefined)),
    }),
  },
  notStartedCostsAnAttempt: {
    says: 'Work that was assigned and never started counts as an attempt.',
    foundBy: ['attemptsAreCounted', 'attemptsAreBounded'],
    changes: (changes) =>
      whereThereWas(
        changes,
        ({ type, payload }) => type === 'task_requeued' && payload.because === 'not started in time',
        ({ attempt }) => ({ attempt: attempt + 1 }),
      ),
  },
  lostAgentsCostNothing: {
    says: 'When an agent is lost, the attempt is returned.',
    foundBy: ['attemptsAreCounted'],
    changes: (changes) =>
      whereThereWas(
        changes,
        ({ type }) => type === 'task_agent_lost',
        ({ attempt }) => ({ attempt: attempt - 1 }),
      ),
  },
  silentAgentsKeepTheirTasks: {
    says: 'What a silent agent holds is left to its leases.',
    // One that leaves is terminated when it seems to hold nothing.
    foundBy: ['staleMeansSilent', 'terminatedAgentsHoldNothing'],
    view(view, envelopes) {
      const judged = new Set(
        envelopes.map(({ request }) =>
          request.on === 'agent' && request.command.kind === 'elapse' ? request.key : '',
        ),
      )
      return withAgents(view, (agent) => (judged.has(agent.record.slug) ? { ...agent, holding: [] } : agent))
    },
  },
  hungTasksKeepTheirPriority: {
    says: 'A hung task is retried with the priority it had.',
    foundBy: ['hungTasksComeSooner'],
    changes: (changes, _requests, view) =>
      whereThereWas(
        changes,
        ({ type }) => type === 'task_hung',
        ({ id }) => ({ priority: view.records.get(id)!.priority }),
      ),
  },
  suspicionStays: {
    says: 'A suspected task stays suspected, whatever completion time its holder gives.',
    foundBy: ['newTimesClearSuspicion', 'hungMeansHung', 'deadlinesAreKept'],
    changes: (changes, _requests, view) =>
      whereThereWas(
        changes,
        ({ type, payload }) => type === 'task_progress' && payload.doneBy !== undefined,
        ({ id, timers }) => {
          const suspectedAt = view.records.get(id)?.timers?.suspectedAt
          return suspectedAt === undefined ? {} : { timers: { ...timers, suspectedAt } }
        },
      ),
  },
  deadlinesAreForgotten: {
    says: 'Started work is not checked before its lease is over.',
    foundBy: ['deadlinesAreKept'],
    changes: (changes) =>
      whereThereWas(
        changes,
        ({ type }) => type === 'task_started',
        () => ({ dueAt: null }),
      ),
  },
  cyclesAreLeftAlone: {
    says: 'Tasks that wait for each other are found, and nothing is done about it.',
    foundBy: ['cyclesAreFound', 'everyTaskEnds'],
    request: (request) =>
      request.on === 'many' && request.items.some(({ command }) => command.kind === 'failCycle')
        ? { ...request, items: [] }
        : request,
  },
  continuesThoughBlocked: {
    says: 'The dependencies of a task are counted again without those that it got since they were read.',
    foundBy: ['countsAreOfDependencies', 'unblockedMeansEnded'],
    request: onCommand('countUpstream', (command, { version }) =>
      command.version === undefined ? command : { ...command, version },
    ),
  },
  heartbeatsWakeTheTerminated: {
    says: 'A heartbeat brings back a terminated agent.',
    foundBy: ['agentsFollowTheirLog', 'whoMayNotGetsNothing'],
    view(view, envelopes) {
      const heartbeating = new Set(
        envelopes.map(({ request }) =>
          request.on === 'agent' && request.command.kind === 'heartbeat' ? request.key : '',
        ),
      )
      return withAgents(view, (agent) =>
        heartbeating.has(agent.record.slug) && agent.record.state === 'terminated'
          ? { ...agent, record: { ...agent.record, state: 'offline' } }
          : agent,
      )
    },
  },
  takenBackStaysHeld: {
    says: 'What is revoked from a terminated agent stays claimed by it.',
    foundBy: ['heldMeansActiveClaim', 'oneActiveClaim', 'claimsAreCounted'],
    changes: (changes) => ({
      ...changes,
      claims: changes.claims.filter(
        (claim) => !(claim.kind === 'ended' && claim.reason === 'AGENT_TERMINATED'),
      ),
    }),
  },
  heartbeatsInAnyOrder: {
    says: 'A heartbeat that was overtaken by a later one is accepted.',
    foundBy: ['heartbeatsGoForward'],
    view: (view) =>
      withAgents(view, (agent) => {
        const { health } = agent.record
        return health ? { ...agent, record: { ...agent.record, health: { ...health, sentAt: null } } } : agent
      }),
  },
} satisfies Record<string, PlantedBug>
