import type { RuleContext } from '../command.ts'
import type { Actor, TaskDraft, TaskRecord } from '../record.ts'
import { hasAttemptsLeft } from './retry.ts'
import { mustStartInTime } from './timers.ts'

/** How an attempt ends without a result, and whether there is another one. */

/** The claim ended without a result: another attempt, or a dead letter when attempts or generations ran out. */
export function expireLease(draft: TaskDraft, context: RuleContext): void {
  const { leaseExpiresAt, state, dueAt } = draft.record
  const leaseExpiredAt = leaseExpiresAt!
  // Assigned but never started: whether upkeep or the end of the lease comes first, no attempt has failed.
  const startBy = mustStartInTime(draft.record, context.limits) ? dueAt : null
  if (state === 'assigned' && startBy !== null && startBy <= leaseExpiredAt) notStarted(draft, context)
  // No extra wait: the lease itself was the wait, and Coditect 4.2 lets the next agent claim at once.
  else endLostClaim(draft, context, 'EXPIRED', 'The lease expired.', 0, { leaseExpiredAt })
}

const LOST = {
  EXPIRED: 'task_lease_expired',
  WORKER_LOST: 'task_worker_lost',
  AGENT_LOST: 'task_agent_lost',
  STALLED: 'task_stalled',
  HUNG: 'task_hung',
} as const

/** The holder is lost: its claim is over, and the task is retried after `waitMs` if attempts are left. */
export function endLostClaim(
  draft: TaskDraft,
  context: RuleContext,
  how: keyof typeof LOST,
  error: string,
  waitMs: number,
  more: Record<string, unknown> = {},
): void {
  const { record } = draft
  const held = { agent: record.agent!, session: record.session!, attempt: record.attempt }
  const by = how === 'STALLED' ? context.actor : 'system'
  const errorType = LOST[how].slice('task_'.length)
  draft.endClaim(how)
  const exhausted = whatRanOut(record, context)
  if (exhausted) {
    fail(draft, by, { failureClass: 'infrastructure', error, errorType, attempt: record.attempt }, exhausted)
  } else {
    record.dueAt = draft.now + waitMs
    draft.move(LOST[how], by, { ...held, errorType, ...more })
  }
}

/** Revoked from a holder that did nothing wrong: back to the queue, and the attempt is not spent. */
export function requeue(
  draft: TaskDraft,
  context: RuleContext,
  how: 'AGENT_TERMINATED' | 'AGENT_PAUSED' | 'NOT_STARTED' | 'REASSIGNED',
  because: string,
): void {
  const { record } = draft
  draft.endClaim(how)
  record.attempt -= 1
  record.dueAt = null
  if (whatRanOut(record, context) === 'generations')
    fail(draft, 'system', { attempt: record.attempt }, 'generations')
  else draft.move('task_requeued', context.actor, { because })
}

/** It was not started in time: another agent may do better. */
export const notStarted = (draft: TaskDraft, context: RuleContext) =>
  requeue(draft, context, 'NOT_STARTED', 'not started in time')

/** Failed for good, with the reason for people. `reason` is what ran out, or why another attempt would not help. */
export function fail(draft: TaskDraft, actor: Actor, failure: Record<string, unknown>, reason: string): void {
  const isExhausted = reason === 'attempts' || reason === 'generations'
  draft.effects.details.push({
    taskId: draft.record.id,
    set: {
      ...('error' in failure ? { error: failure.error as string | null } : {}),
      ...('failureClass' in failure ? { failureClass: failure.failureClass as string } : {}),
      exhausted: isExhausted ? reason : null,
    },
  })
  draft.move('task_failed', actor, { ...failure, reason })
}

export function whatRanOut(record: TaskRecord, context: RuleContext): 'attempts' | 'generations' | null {
  if (record.generation >= context.limits.maxGenerationsPerTask) return 'generations'
  return hasAttemptsLeft(record.attempt, record.maxRetries) ? null : 'attempts'
}
