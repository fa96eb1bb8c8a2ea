import type { SessionCommand, SessionOpening } from '../commands.ts'
import { type Refusal, refuse } from '../errors.ts'
import { type EventDraft, houseEvent } from '../events.ts'
import type { Limits } from '../limits.ts'
import type { Actor, SessionRecord } from '../records.ts'

const HOUR_MS = 3_600_000
/** How long each kind of session may be silent when it does not say itself. */
const WORKER_SILENCE_MS = 60_000
const SESSION_SILENCE_MS = HOUR_MS
const MENTIONED_SILENCE_MS = 24 * HOUR_MS

export interface AroundSession {
  now: number
  actor: Actor
  limits: Limits
  /** Declared sessions that are not over. */
  activeSessions: number
  /** How many tasks it holds. */
  holds: number
}

/** What becomes of the tasks a session holds. */
type Fate = 'kept' | 'renewed' | 'released' | 'lost'

export interface SessionDecision {
  refusal: Refusal | null
  /** The record after the decision; the very same object when nothing changed. */
  record: SessionRecord | null
  events: EventDraft[]
  fate: Fate
}

export const isOver = ({ state }: SessionRecord) => state === 'ended' || state === 'lost'
const isWorker = ({ capacity }: SessionRecord) => capacity !== null
/** Counts against the limit of active sessions. */
export const countsAsActive = (record: SessionRecord | null) => record?.declared === true && !isOver(record)

/** What a command does to a session at a moment, and what that means for the tasks it holds. */
export function decideSession(
  record: SessionRecord | null,
  identity: { name: string; uuid: string },
  command: SessionCommand,
  around: AroundSession,
): SessionDecision {
  if (command.kind === 'open') return open(record, identity, command.opening, around)
  if (command.kind === 'mention') return mention(record, identity, command.agent, around)
  if (!record)
    return refused(record, refuse('NOT_FOUND', `There is no session "${identity.name}" in this workspace.`))
  switch (command.kind) {
    case 'beat':
      return beat(record, around)
    case 'drain':
      return drain(record, around)
    case 'end':
      return end(record, command.reason, around)
    case 'elapse':
      return elapse(record, command, around)
  }
}

const refused = (record: SessionRecord | null, refusal: Refusal): SessionDecision => ({
  refusal,
  record,
  events: [],
  fate: 'kept',
})

function open(
  record: SessionRecord | null,
  identity: { name: string; uuid: string },
  opening: SessionOpening,
  around: AroundSession,
): SessionDecision {
  const { now, limits } = around
  if (!countsAsActive(record) && around.activeSessions >= limits.maxActiveSessions)
    return refused(
      record,
      refuse('LIMIT_REACHED', `This workspace has ${around.activeSessions} active sessions already.`, {
        limit: 'maxActiveSessions',
      }),
    )
  const known = record ?? begun(identity, now)
  const capacity = opening.capacity ?? known.capacity
  const isSameKind = known.declared && (known.capacity === null) === (capacity === null)
  const usualMs = capacity === null ? SESSION_SILENCE_MS : WORKER_SILENCE_MS
  const opened: SessionRecord = {
    ...known,
    agent: opening.agent ?? known.agent,
    userId: opening.userId ?? known.userId,
    project: opening.project ?? known.project,
    state: 'active',
    declared: true,
    capacity,
    capabilities: opening.capacity === null ? known.capabilities : opening.capabilities,
    silenceMs: opening.silenceMs ?? (isSameKind ? known.silenceMs : usualMs),
    lastSeenAt: isOver(known) ? now : known.lastSeenAt,
    endedAt: null,
    endReason: null,
  }
  opened.dueAt = now + opened.silenceMs
  const session = opened.name
  const events = record && !isOver(record) ? [] : [houseEvent('session_started', { session }, around)]
  if (opening.capacity !== null)
    events.push(
      houseEvent('worker_registered', { session, capacity, capabilities: [...opened.capabilities] }, around),
    )
  return { refusal: null, record: opened, events, fate: 'kept' }
}

function begun(identity: { name: string; uuid: string }, now: number): SessionRecord {
  return {
    name: identity.name,
    uuid: identity.uuid,
    agent: null,
    userId: null,
    project: null,
    state: 'active',
    declared: false,
    capacity: null,
    capabilities: [],
    silenceMs: MENTIONED_SILENCE_MS,
    startedAt: now,
    lastSeenAt: now,
    dueAt: now + MENTIONED_SILENCE_MS,
    endedAt: null,
    endReason: null,
  }
}

function mention(
  record: SessionRecord | null,
  identity: { name: string; uuid: string },
  agent: string,
  around: AroundSession,
): SessionDecision {
  // A worker that is gone comes back by registering: what it held was given to others.
  if (record && isWorker(record)) return { refusal: null, record, events: [], fate: 'kept' }
  // Not a beat: what it lost since the last one, it is told at the next.
  const known = record ?? begun(identity, around.now)
  const seen = isOver(known)
    ? seenAgain(known, around.now)
    : { ...known, dueAt: around.now + known.silenceMs }
  seen.agent = agent
  const events = record ? [] : [houseEvent('session_started', { session: seen.name }, around)]
  return { refusal: null, record: seen, events, fate: 'kept' }
}

function seenAgain(record: SessionRecord, now: number): SessionRecord {
  const state = isOver(record) ? 'active' : record.state
  // One that was over and is merely seen again was not opened anew, so it takes nobody's place.
  const declared = record.declared && !isOver(record)
  const dueAt = now + record.silenceMs
  return { ...record, state, declared, lastSeenAt: now, dueAt, endedAt: null, endReason: null }
}

function beat(record: SessionRecord, around: AroundSession): SessionDecision {
  if (isWorker(record) && isOver(record))
    return refused(
      record,
      refuse('WORKER_GONE', `${record.name} is ${record.state}; it must register again.`),
    )
  return { refusal: null, record: seenAgain(record, around.now), events: [], fate: 'renewed' }
}

function drain(record: SessionRecord, around: AroundSession): SessionDecision {
  if (!isWorker(record) || isOver(record))
    return refused(record, refuse('WRONG_STATE', `${record.name} is no worker that could be drained.`))
  if (record.state === 'draining') return { refusal: null, record, events: [], fate: 'kept' }
  const events = [houseEvent('worker_draining', { session: record.name }, around)]
  return { refusal: null, record: { ...record, state: 'draining' }, events, fate: 'kept' }
}

function end(record: SessionRecord, reason: string, around: AroundSession): SessionDecision {
  if (isOver(record)) return { refusal: null, record, events: [], fate: 'kept' }
  const events = [houseEvent('session_ended', { session: record.name, reason }, around)]
  return { refusal: null, record: over(record, 'ended', reason, around.now), events, fate: 'released' }
}

const over = (
  record: SessionRecord,
  state: 'ended' | 'lost',
  endReason: string,
  now: number,
): SessionRecord => ({
  ...record,
  state,
  dueAt: null,
  endedAt: now,
  endReason,
})

function elapse(
  record: SessionRecord,
  { silentMs: silenceMs, heardSince = 0 }: Extract<SessionCommand, { kind: 'elapse' }>,
  around: AroundSession,
): SessionDecision {
  const { now, holds } = around
  const silentMs = now - record.lastSeenAt
  const isDue = silenceMs === undefined ? record.dueAt !== null && record.dueAt <= now : silentMs >= silenceMs
  if (isOver(record) || !isDue) return { refusal: null, record, events: [], fate: 'kept' }
  const heardUntil = heardSince + record.silenceMs
  if (silenceMs === undefined && heardUntil > now)
    return { refusal: null, record: { ...record, dueAt: heardUntil }, events: [], fate: 'kept' }
  if (isWorker(record)) {
    const events = [houseEvent('worker_lost', { session: record.name, silentMs, claims: holds }, around)]
    return { refusal: null, record: over(record, 'lost', 'silent', now), events, fate: 'lost' }
  }
  // Its leases speak for it: what holds a task is not over, however seldom it speaks of itself.
  if (holds > 0)
    return { refusal: null, record: { ...record, dueAt: now + record.silenceMs }, events: [], fate: 'kept' }
  const events = [houseEvent('session_ended', { session: record.name, reason: 'expired' }, around)]
  return { refusal: null, record: over(record, 'ended', 'expired', now), events, fate: 'kept' }
}
