import { isHeld } from '../../../pure/states.ts'
import type { TaskReply } from '../../replies.ts'
import type { RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft } from '../record.ts'
import { dropPreference, expiryOf } from './agent-choice.ts'
import { expireLease } from './attempts.ts'
import { hasExpired, stopsItsClock } from './closed.ts'
import { failAtDeadline, isPastDeadline, postponeDeadline } from './deadlines.ts'
import { leaseRanOut } from './fence.ts'
import { sooner } from './retry.ts'
import { checkHolder } from './stall.ts'
import { verdictClock } from './timers.ts'

type Elapse = Extract<TaskCommand, { kind: 'elapse' }>

/** What time does to a task. When nothing is due nothing changes, so sweeps may repeat it. */
export function elapse(draft: TaskDraft, command: Elapse, context: RuleContext): TaskReply {
  const { record } = draft
  const isUnchanged = command.version === undefined || command.version === record.version
  if (isPastDeadline(draft, context)) {
    failAtDeadline(draft)
  } else if (leaseRanOut(record, context.now)) {
    expireLease(draft, context)
  } else if (record.dueAt !== null && record.dueAt <= context.now) {
    if (stopsItsClock(draft, context)) {
      // It has not run out: it stands still with the mission.
    } else if (record.state === 'pending' && record.blocked) {
      // It is due, but blocked: from here on only its dependencies matter. If dependencies were added since it was
      // found due, it is checked for a cycle first, and therefore stays due.
      if (isUnchanged) {
        record.dueAt = null
        draft.touch()
      }
    } else if (record.state === 'awaiting_retry' || record.state === 'pending') {
      record.dueAt = null
      draft.move('task_queued', 'system', { because: 'due' })
    } else if (record.state === 'queued') {
      if (hasExpired(record, context.now)) giveUp(draft)
      else if (isOver(record.agentChoice?.preferredUntil, context.now)) openToAll(draft)
      else
        postponeDeadline(draft, context, sooner(expiryOf(record), record.agentChoice?.preferredUntil ?? null))
    } else if (record.state === 'verifying' && record.verification === 'baton') {
      // No rule decides about its result: the sender of this command does.
      const { timers, nextCheckMs } = verdictClock(record.timers, context.limits)
      record.timers = timers
      record.dueAt = context.now + nextCheckMs
      draft.mark()
    } else if (record.state === 'verifying') {
      record.dueAt = null
      draft.move('task_human_review_requested', 'system', { reason: 'No verdict before the timeout.' })
    } else if (isHeld(record.state)) {
      checkHolder(draft, context)
    }
  }
  return { ok: true, reason: draft.changed ? 'MOVED' : 'NOTHING_DUE', record }
}

const isOver = (at: number | undefined, now: number) => at !== undefined && at <= now

/** The agent that is preferred did not take it in time. */
function openToAll(draft: TaskDraft): void {
  dropPreference(draft.record)
  draft.touch()
}

export function giveUp(draft: TaskDraft): void {
  draft.move('task_expired', 'system', { expiresAt: draft.record.expiresAt! })
}
