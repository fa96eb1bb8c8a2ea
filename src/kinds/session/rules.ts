import { type Refusal, refuse } from '../../pure/errors.ts'
import { type EventDraft, workspaceEvent } from '../events.ts'
import type { SessionCommand, SessionOpening } from '../task/command.ts'
import type { Actor, SessionRecord } from '../task/record.ts'
import { type Outside, whyNotInSession } from '../task/rules/acting.ts'
import type { Limits } from '../workspace/limits.ts'

const HOUR_MS = 3_600_000
/** How long each kind of session may be silent by default. */
const WORKER_SILENCE_MS = 60_000
const SESSION_SILENCE_MS = HOUR_MS
const UNDECLARED_SILENCE_MS = 24 * HOUR_MS

export interface SessionContext {
  now: number
  actor: Actor
  outside?: Outside | undefined
  limits: Limits
  /** Declared sessions that have not ended. */
  activeSessions: number
  /** The number of tasks it holds. */
  holds: number
}

/** What happens to the tasks a session holds. */
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
  context: SessionContext,
): SessionDecision {
  const foreign = whyNotInSession(context.outside, identity.name, record)
  if (foreign) return refused(record, foreign)
  if (command.kind === 'open') return open(record, identity, command.opening, context)
  if (command.kind === 'touch') return touch(record, identity, command.agent, context)
  if (!record)
    return refused(record, refuse('NOT_FOUND', `There is no session "${identity.name}" in this workspace.`))
  switch (command.kind) {
    case 'heartbeat':
      return heartbeat(record, context)
    case 'drain':
      return drain(record, context)
    case 'end':
      return end(record, command.reason, context)
    case 'elapse':
      return elapse(record, command, context)
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
  context: SessionContext,
): SessionDecision {
  const { now, limits } = context
  if (!countsAsActive(record) && context.activeSessions >= limits.maxActiveSessions)
    return refused(
      record,
      refuse('LIMIT_REACHED', `This workspace already has ${context.activeSessions} active sessions.`, {
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
  const events = record && !isOver(record) ? [] : [workspaceEvent('session_started', { session }, context)]
  if (opening.capacity !== null)
    events.push(
      workspaceEvent(
        'worker_registered',
        { session, capacity, capabilities: [...opened.capabilities] },
        context,
      ),
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
    silenceMs: UNDECLARED_SILENCE_MS,
    startedAt: now,
    lastSeenAt: now,
    dueAt: now + UNDECLARED_SILENCE_MS,
    endedAt: null,
    endReason: null,
  }
}

function touch(
  record: SessionRecord | null,
  identity: { name: string; uuid: string },
  agent: string,
  context: SessionContext,
): SessionDecision {
  // A lost worker comes back by registering: its tasks were assigned to others.
  if (record && isWorker(record)) return { refusal: null, record, events: [], fate: 'kept' }
  // Not a heartbeat: claims lost since the last heartbeat are reported at the next one.
  const known = record ?? begun(identity, context.now)
  const seen = isOver(known)
    ? seenAgain(known, context.now)
    : { ...known, dueAt: context.now + known.silenceMs }
  seen.agent = agent
  const events = record ? [] : [workspaceEvent('session_started', { session: seen.name }, context)]
  return { refusal: null, record: seen, events, fate: 'kept' }
}

/** How much earlier than its silence allows a session may end, counted from its last claim. */
const TOUCH_EVERY_MS = 60_000
const TOUCHES_A_SILENCE = 60

/**
 * Whether a touch by this agent would change so little that it need not be written: every touch locks all tasks that the
 * session holds.
 */
export function isTouched(
  record: Pick<SessionRecord, 'agent' | 'capacity' | 'silenceMs' | 'dueAt'>,
  agent: string,
  now: number,
): boolean {
  if (record.capacity !== null) return true
  if (record.agent !== agent || record.dueAt === null) return false
  const everyMs = Math.min(TOUCH_EVERY_MS, record.silenceMs / TOUCHES_A_SILENCE)
  return record.dueAt - now > record.silenceMs - everyMs
}

function seenAgain(record: SessionRecord, now: number): SessionRecord {
  const state = isOver(record) ? 'active' : record.state
  // A session that had ended and is only named by a claim was not reopened, so it does not count as active.
  const declared = record.declared && !isOver(record)
  const dueAt = now + record.silenceMs
  return { ...record, state, declared, lastSeenAt: now, dueAt, endedAt: null, endReason: null }
}

function heartbeat(record: SessionRecord, context: SessionContext): SessionDecision {
  if (isWorker(record) && isOver(record))
    return refused(
      record,
      refuse('WORKER_GONE', `${record.name} is ${record.state}; it must register again.`),
    )
  return { refusal: null, record: seenAgain(record, context.now), events: [], fate: 'renewed' }
}

function drain(record: SessionRecord, context: SessionContext): SessionDecision {
  if (!isWorker(record) || isOver(record))
    return refused(record, refuse('WRONG_STATE', `${record.name} is not a worker, so it cannot be drained.`))
  if (record.state === 'draining') return { refusal: null, record, events: [], fate: 'kept' }
  const events = [workspaceEvent('worker_draining', { session: record.name }, context)]
  return { refusal: null, record: { ...record, state: 'draining' }, events, fate: 'kept' }
}

function end(record: SessionRecord, reason: string, context: SessionContext): SessionDecision {
  if (isOver(record)) return { refusal: null, record, events: [], fate: 'kept' }
  const events = [workspaceEvent('session_ended', { session: record.name, reason }, context)]
  return { refusal: null, record: over(record, 'ended', reason, context.now), events, fate: 'released' }
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
  { silentMs: silenceMs, listeningSince = 0 }: Extract<SessionCommand, { kind: 'elapse' }>,
  context: SessionContext,
): SessionDecision {
  const { now, holds } = context
  const silentMs = now - record.lastSeenAt
  const isDue = silenceMs === undefined ? record.dueAt !== null && record.dueAt <= now : silentMs >= silenceMs
  if (isOver(record) || !isDue) return { refusal: null, record, events: [], fate: 'kept' }
  const heardUntil = listeningSince + record.silenceMs
  if (silenceMs === undefined && heardUntil > now)
    return { refusal: null, record: { ...record, dueAt: heardUntil }, events: [], fate: 'kept' }
  if (isWorker(record)) {
    const events = [workspaceEvent('worker_lost', { session: record.name, silentMs, claims: holds }, context)]
    return { refusal: null, record: over(record, 'lost', 'silent', now), events, fate: 'lost' }
  }
  // Leases are enough: a session that holds a task is not over, even without heartbeats.
  if (holds > 0)
    return { refusal: null, record: { ...record, dueAt: now + record.silenceMs }, events: [], fate: 'kept' }
  const events = [workspaceEvent('session_ended', { session: record.name, reason: 'expired' }, context)]
  return { refusal: null, record: over(record, 'ended', 'expired', now), events, fate: 'kept' }
}
