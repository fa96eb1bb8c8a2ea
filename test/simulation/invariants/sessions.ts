import { countsAsActive, isOver } from '../../../src/kinds/session/rules.ts'
import type { Sight } from '../observer.ts'
import type { WorldInvariant } from './invariant.ts'

/** How many tasks each session holds. */
function holdings({ tasks }: Sight): Map<string, number> {
  const held = new Map<string, number>()
  for (const { record } of tasks.values())
    if (record.claimState === 'active') held.set(record.session!, (held.get(record.session!) ?? 0) + 1)
  return held
}

const workersHoldWhatTheyCan: WorldInvariant = {
  says: 'No worker gets more than its capacity; what it held before it lowered that, it may keep.',
  broken: (sight) => {
    const held = holdings(sight)
    for (const { record } of sight.view.kinds.session.seen.values()) {
      const { name, capacity } = record
      const count = held.get(name) ?? 0
      if (capacity === null || count <= capacity || !wasAssignedSomething(sight, name)) continue
      const change = sight.changedSessions.find((session) => session.record.name === name)
      if (!change || change.before?.capacity === capacity) return `${name} holds ${count} of ${capacity}`
    }
    return null
  },
}

const wasAssignedSomething = ({ changed }: Sight, name: string) =>
  changed.some(
    ({ record, before }) =>
      record.session === name && record.claimState === 'active' && before?.generation !== record.generation,
  )

const goneWorkersHoldNothing: WorldInvariant = {
  says: 'A worker that ended or was lost holds nothing.',
  broken: (sight) => {
    const held = holdings(sight)
    for (const { record } of sight.view.kinds.session.seen.values())
      if (record.capacity !== null && isOver(record) && held.has(record.name))
        return `${record.name} is ${record.state} and holds ${held.get(record.name)}`
    return null
  },
}

const sessionsAreCounted: WorldInvariant = {
  says: 'The number of open sessions equals the counter, and is within the limit.',
  broken: ({ view: { kinds, limits } }) => {
    const { seen, counted: activeSessions } = kinds.session
    const count = [...seen.values()].filter(({ record }) => countsAsActive(record)).length
    return (
      (count !== activeSessions || count > limits.maxActiveSessions) &&
      `counted ${activeSessions}, there are ${count} of ${limits.maxActiveSessions}`
    )
  },
}

const acknowledgedSessionsAreStored: WorldInvariant = {
  says: 'A session in an answer is stored.',
  broken: ({ view }, { ledger }) => {
    const lost = [...ledger.sessions].find((name) => !view.kinds.session.seen.has(name))
    return lost && `${lost} is nowhere`
  },
}

const overMeansSilentOrSaid: WorldInvariant = {
  says: 'A session is over because it or a person ended it, or after its silence, and the log has it.',
  broken: ({ changedSessions, newEvents }) => {
    const reported = (type: string, name: string) =>
      newEvents.some((event) => event.type === type && event.payload.session === name)
    for (const { record, before } of changedSessions) {
      const { name, state, endReason, endedAt, lastSeenAt, silenceMs } = record
      if (before && lastSeenAt < before.lastSeenAt) return `${name} was seen earlier than before`
      if (before?.state === state) continue
      if (!before && !reported('session_started', name)) return `${name} began without an event`
      if (state === 'lost' && !reported('worker_lost', name)) return `${name} was lost without an event`
      if (state === 'ended' && !reported('session_ended', name)) return `${name} ended without an event`
      const bySilence = state === 'lost' || endReason === 'expired'
      if (bySilence && endedAt! - lastSeenAt < silenceMs)
        return `${name} was silent for ${endedAt! - lastSeenAt} ms of ${silenceMs}`
    }
    return null
  },
}

const sessionsAreJudged: WorldInvariant = {
  says: 'A session has a time at which its silence is judged exactly as long as it is not over.',
  broken: ({ changedSessions }) => {
    const wrong = changedSessions.find(
      ({ record }) =>
        (record.dueAt === null) !== isOver(record) || (record.endedAt !== null) !== isOver(record),
    )
    return wrong && `${wrong.record.name} is ${wrong.record.state}, due at ${wrong.record.dueAt}`
  },
}

const tracksHaveTheirAgents: WorldInvariant = {
  says: 'No more agents than it may have hold tasks of a track; parts of tasks do not count.',
  broken: ({ tasks }, { plan, projects }) => {
    for (const [i, { maxAgentsOnTrackA }] of plan.projects.entries()) {
      if (maxAgentsOnTrackA == null) continue
      const agents = new Set<string | null>()
      for (const { record } of tasks.values())
        if (record.projectId === projects[i] && record.trackQueue === 'A' && record.claimState === 'active')
          agents.add(record.agent)
      if (agents.size > maxAgentsOnTrackA)
        return `${[...agents].join(', ')} are on a track for ${maxAgentsOnTrackA}`
    }
    return null
  },
}

export const sessionInvariants = {
  workersHoldWhatTheyCan,
  goneWorkersHoldNothing,
  sessionsAreCounted,
  acknowledgedSessionsAreStored,
  overMeansSilentOrSaid,
  sessionsAreJudged,
  tracksHaveTheirAgents,
}
