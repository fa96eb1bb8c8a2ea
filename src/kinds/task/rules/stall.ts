import { isHeld } from '../../../pure/states.ts'
import type { TaskReply } from '../../replies.ts'
import type { Fence, RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft, TaskRecord } from '../record.ts'
import { endLostClaim, expireLease, notStarted, requeue, whatRanOut } from './attempts.ts'
import { endAttemptInTime, postponeDeadline } from './deadlines.ts'
import { leaseRanOut } from './fence.ts'
import { sooner, spreadBackoffMs } from './retry.ts'
import { abortsAt, firstDeadline, mustStartInTime, stallsAt, suspectedFrom } from './timers.ts'

const waitMsOf = ({ attempt, id, generation, timers }: TaskRecord) =>
  spreadBackoffMs(attempt, id, generation, timers?.retryBaseMs)

type Lose = Extract<TaskCommand, { kind: 'lose' }>

const isHeldBy = ({ claimState, generation }: TaskRecord, fence: Fence) =>
  claimState === 'active' && generation === fence.generation

/** Its worker or agent went silent: the task is retried as after any infrastructure failure. */
export function lose(draft: TaskDraft, { fence, silentMs, who }: Lose, context: RuleContext): TaskReply {
  const { record } = draft
  if (!isHeldBy(record, fence)) return { ok: true, reason: 'NOTHING_DUE', record }
  const end = who === 'worker' ? 'WORKER_LOST' : 'AGENT_LOST'
  endLostClaim(draft, context, end, `The ${who} went silent.`, waitMsOf(record), { silentMs })
  return { ok: true, reason: 'LOST', record }
}

type Revoke = Extract<TaskCommand, { kind: 'revoke' }>

/** Its agent was terminated, or paused at once: the task goes back to the queue. */
export function revoke(draft: TaskDraft, { fence, how, reason }: Revoke, context: RuleContext): TaskReply {
  const { record } = draft
  if (!isHeldBy(record, fence)) return { ok: true, reason: 'NOTHING_DUE', record }
  requeue(draft, context, how, reason)
  return { ok: true, reason: 'TAKEN_BACK', record }
}

type Stall = Extract<TaskCommand, { kind: 'stall' }>

/**
 * ADE's requeue of stalled work: a holder without a sign of life for this long loses the task, whatever its lease. A run is
 * left to its node, which knows more of it than the time of its last renewal.
 */
export function stall(draft: TaskDraft, { silentMs }: Stall, context: RuleContext): TaskReply {
  const { record } = draft
  if (leaseRanOut(record, context.now)) expireLease(draft, context)
  else if (isHeld(record.state) && !record.holder?.isRun && context.now - record.updatedAt >= silentMs)
    takeFromSilent(draft, context)
  return { ok: true, reason: draft.changed ? 'MOVED' : 'NOTHING_DUE', record }
}

function takeFromSilent(draft: TaskDraft, context: RuleContext): void {
  const { record } = draft
  const silentMs = context.now - record.updatedAt
  detected(draft, record.updatedAt, actionOn(record, context))
  const error = `The holder gave no sign of life for ${silentMs} ms.`
  endLostClaim(draft, context, 'STALLED', error, waitMsOf(record), { silentMs })
}

/** The check of a held task is due. If it comes too early, the next check is scheduled. */
export function checkHolder(draft: TaskDraft, context: RuleContext): void {
  const { record } = draft
  const { limits, now } = context
  const isPast = (time: number | null) => time !== null && time <= now
  if (record.state === 'assigned') {
    if (mustStartInTime(record, limits)) {
      detected(draft, record.acquiredAt!, 'requeue')
      notStarted(draft, context)
    } else postponeDeadline(draft, context, null)
  } else if (isPast(record.timers?.attemptEndsAt ?? null)) endAttemptInTime(draft, context)
  else if (isPast(stallsAt(record, limits))) takeFromSilent(draft, context)
  else if (isPast(abortsAt(record, limits))) revokeFromHung(draft, context)
  else {
    if (isPast(suspectedFrom(record, limits))) suspect(draft)
    postponeDeadline(draft, context, null)
    record.dueAt = sooner(record.dueAt, firstDeadline(record, limits))
  }
}

/** Far beyond its estimate. The answers to the holder's renewals request progress. */
function suspect(draft: TaskDraft): void {
  const { record, now } = draft
  record.timers = { ...record.timers, suspectedAt: now }
  const { agent, session } = record
  draft.note('task_hang_suspected', 'system', { agent, session, doneBy: record.timers.doneBy })
}

const HIGHEST_PRIORITY = 10

/** It was asked for progress and made none. Another agent tries, and sooner: the task is late already. */
function revokeFromHung(draft: TaskDraft, context: RuleContext): void {
  const { record } = draft
  const { suspectedAt, progressAt } = record.timers!
  const since = Math.max(suspectedAt!, progressAt ?? 0)
  const withoutProgressMs = context.now - since
  detected(draft, since, actionOn(record, context))
  const priority = Math.min(record.priority + 1, HIGHEST_PRIORITY)
  const error = `The task was far beyond its estimate and made no progress for ${withoutProgressMs} ms.`
  endLostClaim(draft, context, 'HUNG', error, waitMsOf(record), { withoutProgressMs, priority })
  if (record.state === 'awaiting_retry') record.priority = priority
}

/** What was found, before anything is done about it. */
function detected(draft: TaskDraft, stalledSince: number, action: 'retry' | 'fail' | 'requeue'): void {
  const { uuid, state } = draft.record
  const found = { entityType: 'task', entityId: uuid, stalledState: state, stalledSince, action }
  draft.note('stall_detected', 'system', found)
}

const actionOn = (record: TaskRecord, context: RuleContext) =>
  whatRanOut(record, context) ? 'fail' : 'retry'
