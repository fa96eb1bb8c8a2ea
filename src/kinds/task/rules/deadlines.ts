import { isHeld } from '../../../pure/states.ts'
import type { RuleContext } from '../command.ts'
import type { TaskDraft, TaskRecord } from '../record.ts'
import { fail, whatRanOut } from './attempts.ts'
import { backoffMs, sooner } from './retry.ts'
import { deadlineAt, withClockChecked } from './timer-clock.ts'
import { timedOut, timeFor } from './timers.ts'

/** The end of one attempt, and the end of all of them. */

/** While the gate of its mission is closed, the clock of a task is stopped: it is checked again only now and then. */
const CHECK_AGAIN_MS = 60_000

const isTimed = ({ state }: TaskRecord) => state === 'queued' || state === 'awaiting_retry' || isHeld(state)

/** The time for all attempts is over. */
export function isPastDeadline({ record, closedMs }: TaskDraft, { now }: RuleContext): boolean {
  const at = deadlineAt(record.timers, { closedMs })
  return at !== null && at <= now && isTimed(record)
}

/** Whatever it is doing, it has failed: its holder is stopped, and there is no other attempt. */
export function failAtDeadline(draft: TaskDraft): void {
  const { record } = draft
  const error = `The task was not done within its ${record.timers!.deadlineMs! / 1000} s.`
  draft.endClaim('DEADLINE')
  const failure = { failureClass: 'timeout', errorType: 'deadline', error, attempt: record.attempt }
  fail(draft, 'system', failure, 'deadline')
}

/** Checked too early, because the gate of its mission was closed for a time: the deadline is later by that time. */
export function postponeDeadline(
  draft: TaskDraft,
  context: RuleContext,
  otherwiseDueAt: number | null,
): void {
  const { record, closedMs } = draft
  const { now } = context
  draft.mark()
  if (record.timers) record.timers = withClockChecked(record.timers, { now, closedMs })
  const { deadlineAt: at = null } = record.timers ?? {}
  const isStanding =
    record.missionId !== null && (context.missionOf?.(record.missionId)?.closedAt ?? null) !== null
  record.dueAt = sooner(otherwiseDueAt, at !== null && isStanding ? Math.max(at, now + CHECK_AGAIN_MS) : at)
}

/** The attempt took too long: the next one, if one is left. */
export function endAttemptInTime(draft: TaskDraft, context: RuleContext): void {
  const { record } = draft
  const { attempt } = record
  const { attemptMs, timeouts } = record.timers!
  const error = `The attempt was not done within ${timeFor(attemptMs!, timeouts) / 1000} s.`
  const failure = { failureClass: 'timeout', errorType: 'timeout', error, attempt }
  draft.endClaim('TIMED_OUT')
  record.timers = timedOut(record.timers)
  const exhausted = whatRanOut(record, context)
  if (exhausted) {
    fail(draft, 'system', failure, exhausted)
    return
  }
  draft.effects.details.push({ taskId: record.id, set: { failureClass: 'timeout', error, exhausted: null } })
  const waitMs = backoffMs(attempt, record.timers!.retryBaseMs)
  record.dueAt = context.now + waitMs
  draft.move('task_retrying', 'system', { ...failure, dueAt: record.dueAt, waitMs })
}
