import type { AgentRecord } from '../../../src/kinds/agent/record.ts'
import type { StoredEvent } from '../../../src/kinds/events.ts'
import type { Sight } from '../observer.ts'
import type { WorldInvariant } from './invariant.ts'

/** The log does not say whether a resumed agent is idle or offline. */
type State = AgentRecord['state'] | 'unknown' | 'resumed'

interface Standing {
  state: State
  leaving: boolean
}

const standingOf = (record: AgentRecord | null): Standing =>
  record ? { state: record.state, leaving: record.leaving } : { state: 'unknown', leaving: false }

const GONE: readonly State[] = ['offline', 'error', 'resumed']

/** What each event about an agent makes of it; null where it is impossible. */
const FOLLOWS: Record<string, (is: Standing, payload: StoredEvent['payload']) => Standing | null> = {
  agent_registered: ({ state, leaving }) =>
    state === 'unknown' || state === 'terminated' || leaving ? { state: 'idle', leaving: false } : null,
  agent_updated: (is) => (is.state === 'unknown' || is.state === 'terminated' || is.leaving ? null : is),
  // A pause may be said again to stop at once.
  agent_paused: ({ state, leaving }, { graceful }) =>
    leaving || state === 'terminated' || (state === 'paused' && graceful !== false)
      ? null
      : { state: 'paused', leaving },
  agent_resumed: ({ state, leaving }) =>
    state === 'paused' && !leaving ? { state: 'resumed', leaving } : null,
  agent_leaving: ({ state, leaving }) =>
    leaving || state === 'terminated' ? null : { state, leaving: true },
  agent_terminated: ({ state }) => (state === 'terminated' ? null : { state: 'terminated', leaving: false }),
  agent_removed: () => standingOf(null),
  agent_stale: ({ state, leaving }, { claims }) => {
    if (state === 'terminated') return null
    return { state: state === 'paused' ? state : (claims as number) > 0 ? 'error' : 'offline', leaving }
  },
  agent_faulted: ({ state, leaving }) =>
    state === 'idle' || state === 'resumed' ? { state: 'error', leaving } : null,
  agent_recovered: ({ state, leaving }) => (GONE.includes(state) ? { state: 'idle', leaving } : null),
}

/** Walks through the events since the last check: `at` gets the state of each agent at each of them. */
function walk(
  { newEvents, agents, changedAgents }: Sight,
  at: (event: StoredEvent, standing: (slug: string) => Standing) => string | null,
): string | null {
  const standings = new Map<string, Standing>()
  const before = new Map(changedAgents.map((agent) => [agent.slug, agent.before]))
  const standing = (slug: string) =>
    standings.get(slug) ??
    standingOf(before.has(slug) ? before.get(slug)! : (agents.get(slug)?.record ?? null))
  for (const event of newEvents) {
    const slug = event.payload.agent as string
    const wrong = at(event, standing)
    if (wrong) return wrong
    const next = FOLLOWS[event.type]?.(standing(slug), event.payload)
    if (next === null) return `${event.type} of ${slug}, which was ${nameOf(standing(slug))}`
    if (next) standings.set(slug, next)
  }
  for (const { slug, record } of changedAgents) {
    const reported = standing(slug)
    const is = standingOf(record)
    const agree =
      reported.state === 'resumed' ? ['idle', 'offline'].includes(is.state) : reported.state === is.state
    if (!agree || reported.leaving !== is.leaving)
      return `the log makes ${slug} ${nameOf(reported)}, it is ${nameOf(is)}`
  }
  return null
}

const nameOf = ({ state, leaving }: Standing) => `${state}${leaving ? ' and leaving' : ''}`

const agentsFollowTheirLog: WorldInvariant = {
  says: 'An agent changes as the log says: a terminated one comes back by registering and in no other way.',
  broken: (sight) => walk(sight, () => null),
}

const whoMayNotGetsNothing: WorldInvariant = {
  says: 'Agents that are paused, terminated or leaving are assigned nothing.',
  broken: (sight) =>
    walk(sight, ({ type, payload }, standing) => {
      if (type !== 'task_assigned') return null
      const slug = payload.agent as string
      const is = standing(slug)
      const may = is.state !== 'paused' && is.state !== 'terminated' && !is.leaving
      return may ? null : `${slug} is ${nameOf(is)} and was assigned a task`
    }),
}

const heldBy = ({ tasks }: Sight, slug: string) =>
  [...tasks.values()].filter(({ record }) => record.claimState === 'active' && record.agent === slug)

const agentsHoldWhatTheyMay: WorldInvariant = {
  says: 'No agent gets more than its limit; what it held before the limit was lowered, it keeps.',
  broken: (sight) => {
    for (const { slug, record } of sight.agents.values()) {
      const most = record?.maxConcurrentTasks ?? null
      const held = heldBy(sight, slug)
      if (most === null || held.length <= most) continue
      const saidAt = sight.newEvents.findLast(
        ({ type, payload }) => SAYS_HOW_MUCH.includes(type) && payload.agent === slug,
      )?.seq
      const given = sight.newEvents.find(
        ({ type, seq, payload }) => type === 'task_assigned' && payload.agent === slug && seq > (saidAt ?? 0),
      )
      if (given) return `${slug} holds ${held.length} of ${most}`
    }
    return null
  },
}

const SAYS_HOW_MUCH = ['agent_registered', 'agent_updated']

const terminatedAgentsHoldNothing: WorldInvariant = {
  says: 'A terminated agent holds nothing, and one that holds something is not removed.',
  broken: (sight) => {
    for (const { slug, record } of sight.agents.values())
      if (record?.state === 'terminated' && heldBy(sight, slug).length > 0)
        return `${slug} is terminated and holds ${heldBy(sight, slug).length}`
    const removed = sight.changedAgents.find(({ record }) => record === null)
    const kept = removed && heldBy(sight, removed.slug).filter((task) => !sight.changed.includes(task))
    return kept && kept.length > 0 && `${removed.slug} was removed and holds ${kept.length}`
  },
}

const staleMeansSilent: WorldInvariant = {
  says: 'An agent is declared lost only after its silence; then it loses what it held, if it had sent heartbeats.',
  broken: (sight) => {
    for (const { type, seq, payload } of sight.newEvents) {
      if (type !== 'agent_stale') continue
      const slug = payload.agent as string
      const change = sight.changedAgents.find((agent) => agent.slug === slug)
      const known = [change?.before, change?.record].filter((record) => record != null)
      const staleMs = Math.min(...known.map((record) => record.staleMs))
      if ((payload.silentMs as number) < staleMs) return `${slug} was silent for ${payload.silentMs} ms`
      if (!known.every(isMissed)) continue
      const since = (task: { events: readonly StoredEvent[] }) =>
        task.events.findLast((event) => event.type === 'task_assigned')!.seq
      const kept = heldBy(sight, slug).find((task) => since(task) < seq)
      if (kept) return `${slug} went silent and still holds task ${kept.record.id}`
    }
    return null
  },
}

const isMissed = ({ health, coordinatorEnabled }: AgentRecord) =>
  coordinatorEnabled && health?.hasHeartbeat === true

const lostWithTheirAgent: WorldInvariant = {
  says: 'A task is lost with its agent only when the agent was found silent, leaving or not.',
  broken: ({ newEvents }) => {
    const lost = newEvents.find(
      ({ type, payload }) =>
        type === 'task_agent_lost' &&
        !newEvents.some((event) => IS_GONE.includes(event.type) && event.payload.agent === payload.agent),
    )
    return lost && `task ${lost.taskId} was lost by ${lost.payload.agent}, which is not silent`
  },
}

const IS_GONE = ['agent_stale', 'agent_terminated']

const agentsAreJudged: WorldInvariant = {
  says: 'A live agent has a time at which its silence is judged; a terminated one has none.',
  broken: ({ changedAgents }) => {
    const isWrong = (record: AgentRecord | null) =>
      record?.health != null &&
      ((record.state === 'idle' && record.health.dueAt === null) ||
        (record.state === 'terminated' && record.health.dueAt !== null))
    const wrong = changedAgents.find(({ record }) => isWrong(record))?.record
    return wrong && `${wrong.slug} is ${wrong.state}, due at ${wrong.health!.dueAt}`
  },
}

const heartbeatsGoForward: WorldInvariant = {
  says: 'What the last heartbeat reported is never replaced by an earlier one.',
  broken: ({ changedAgents, newEvents }) => {
    for (const { slug, record, before } of changedAgents) {
      if (!record?.health || !before?.health || record.uuid !== before.uuid) continue
      if (record.health.lastSeenAt < before.health.lastSeenAt) return `${slug} was seen earlier than before`
      const isAnew = newEvents.some(
        ({ type, payload }) => type === 'agent_registered' && payload.agent === slug,
      )
      if (!isAnew && (record.health.sentAt ?? 0) < (before.health.sentAt ?? 0))
        return `${slug} sent this before what was known`
    }
    return null
  },
}

export const agentInvariants = {
  agentsFollowTheirLog,
  whoMayNotGetsNothing,
  agentsHoldWhatTheyMay,
  terminatedAgentsHoldNothing,
  staleMeansSilent,
  lostWithTheirAgent,
  agentsAreJudged,
  heartbeatsGoForward: heartbeatsGoForward,
}
