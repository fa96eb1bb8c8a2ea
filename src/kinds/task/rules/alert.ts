import type { TaskReply } from '../../replies.ts'
import type { RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft } from '../record.ts'
import { closed, taskItemId, taskItemsChanged } from './inbox-events.ts'
import { dropAlert, WAITS_NO_MORE } from './waiting.ts'

/**
 * The mark of queued tasks that nobody takes. Who could take them is read from agents and workers by upkeep
 * (kinds/alert/rules/untaken.ts). The mark is what is true, and the item of the inbox; the alert about it follows (kinds/alert/acts/look.ts).
 */

type Raise = Extract<TaskCommand, { kind: 'raiseAlert' }>

/** People are told, unless it changed since it was looked at. Being told is not a sign of life: it waits since it was queued. */
export function raiseAlert(draft: TaskDraft, { reason, version }: Raise, { actor }: RuleContext): TaskReply {
  const { record } = draft
  if (record.state !== 'queued' || record.attention?.alert === reason || record.version !== version)
    return { ok: true, reason: 'NOTHING_DUE', record }
  const told = record.attention?.alert === undefined ? null : draft.before
  record.attention = { ...record.attention, alert: reason }
  draft.mark()
  const set = { waitsKind: 'alert', waitsSince: record.updatedAt, waitsBecause: reason } as const
  draft.effects.details.push({ taskId: record.id, set })
  draft.note('task_untaken', actor, { reason })
  for (const [type, payload] of taskItemsChanged(told, record, set, 'task_untaken'))
    draft.note(type, actor, payload)
  return { ok: true, reason: 'RAISED', record }
}

/** Somebody can take it again, or its mission is closed. */
export function clearAlert(draft: TaskDraft, { actor }: RuleContext): TaskReply {
  const { record } = draft
  if (record.attention?.alert === undefined) return { ok: true, reason: 'NOTHING_DUE', record }
  draft.mark()
  endAlert(draft, actor, 'task_takable')
  draft.note('task_takable', actor, {})
  return { ok: true, reason: 'CLEARED', record }
}

/** What the alert said is no longer so, because of the event of this type. Upkeep raises it again if still nobody takes the task. */
export function endAlert(draft: TaskDraft, actor: string, because: string): void {
  const { record } = draft
  if (record.attention?.alert === undefined) return
  const [type, payload] = closed(taskItemId(record), because)
  dropAlert(record)
  draft.effects.details.push({ taskId: record.id, set: WAITS_NO_MORE })
  draft.note(type, actor, payload)
}
