import type { TaskReply } from '../../replies.ts'
import type { RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft, TaskRecord } from '../record.ts'
import { readinessOf } from './upstream-counts.ts'

type WaitAgain = Extract<TaskCommand, { kind: 'waitAgain' }>

/** Skipped because of what it depends on, not by a person or its holder. */
export const wasNeverReady = ({ state, upstream }: Pick<TaskRecord, 'state' | 'upstream'>) =>
  state === 'skipped' && (upstream === null || readinessOf(upstream) === 'never')

/**
 * What it depends on is done again: it waits for that, and everything is counted again. Due at once: a dependency that closes a
 * cycle may have been added in the meantime.
 */
export function waitAgain(draft: TaskDraft, { because }: WaitAgain, { actor, now }: RuleContext): TaskReply {
  const { record } = draft
  if (!wasNeverReady(record)) return { ok: true, reason: 'NOTHING_DUE', record }
  Object.assign(record, { blocked: true, upstream: null, archivedAt: null, attempt: 0 })
  draft.move('task_reopened', actor, { because })
  record.dueAt = now
  return { ok: true, reason: 'MOVED', record }
}
