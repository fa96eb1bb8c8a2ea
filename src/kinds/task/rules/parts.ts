import { refuse } from '../../../pure/errors.ts'
import type { TaskReply } from '../../replies.ts'
import type { RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft } from '../record.ts'
import { fail } from './attempts.ts'
import { closeForLateResults } from './fence.ts'
import { REVIEW_REQUIRED, verdictDueAt } from './result.ts'
import { claimAtOnce, storeResult } from './result-writes.ts'
import { standBy } from './standing-result.ts'
import { workProductRef } from './task-keys.ts'
import { moveByUpstream } from './upstream.ts'
import { plus } from './upstream-counts.ts'

type Command<K extends TaskCommand['kind']> = Extract<TaskCommand, { kind: K }>

/** A task is divided: it waits for its parts. Then their results, in order, are its result, or an agent joins them. */
export function divide(draft: TaskDraft, command: Command<'divide'>, context: RuleContext): TaskReply {
  const { record } = draft
  if (record.state !== 'queued' && record.state !== 'pending')
    return refuse('WRONG_STATE', `A task that is ${record.state} cannot be divided.`, {
      taskState: record.state,
    })
  closeForLateResults(record)
  // Divided further, it keeps its first merge setting.
  if (record.merge === 'none') record.merge = command.merge
  // While it did not wait, nothing was counted: then all its dependencies are counted again.
  const counted = record.blocked ? record.upstream : null
  record.upstream = counted && plus({ ...counted, rule: 'all_success' }, command.outcomes ?? [])
  record.blocked = true
  if (record.state === 'queued') record.dueAt = null
  // It waits again for all its dependencies, and two callers may divide at the same moment: that may close a cycle.
  record.dueAt ??= context.now
  draft.move('task_divided', context.actor, { parts: command.parts, merge: record.merge })
  moveByUpstream(draft, context)
  return { ok: true, reason: 'DIVIDED', record }
}

/** Baton itself holds a merge. */
const MERGER = { agent: 'baton', session: 'baton:merge' }

/** The parts are done: their results, in order, are the result of the whole. */
export function merge(draft: TaskDraft, command: Command<'merge'>, context: RuleContext): TaskReply {
  const { record } = draft
  if (record.state !== 'pending' || !record.blocked || record.merge !== 'object')
    return { ok: true, reason: 'NOTHING_DUE', record }
  // A part may have been reset or added since the read: that would have raised the version.
  if (record.version !== command.version) return { ok: true, reason: 'NOTHING_DUE', record }
  const isAsRead = command.parts.every(({ id, generation, hash }) => {
    const part = context.recordOf?.(id)
    return part?.state === 'completed' && part.generation === generation && part.resultHash === hash
  })
  if (!isAsRead) return { ok: true, reason: 'NOTHING_DUE', record }
  record.blocked = false
  const { submission } = command
  if (submission.bytes > context.limits.maxResultBytes) {
    const error = `The results of the parts have ${submission.bytes} bytes in total; at most ${context.limits.maxResultBytes} are allowed.`
    fail(draft, 'system', { failureClass: 'invalid', error, attempt: record.attempt }, 'result too large')
    return { ok: true, reason: 'MOVED', record }
  }
  const by = claimAtOnce(draft, MERGER, 'MERGED')
  standBy(record, submission)
  const ref = workProductRef(record.key ?? record.uuid, record.generation, submission.hash)
  storeResult(draft, submission, ref, by, record.verification === 'none' ? true : null)
  // What is merged needs the same verdict as what an agent submits.
  record.dueAt = verdictDueAt(record, context)
  if (record.verification === 'none')
    draft.move('task_merged', 'system', { parts: command.parts.length, workProductRef: ref })
  else if (record.verification === 'human')
    draft.move('task_human_review_requested', 'system', { reason: REVIEW_REQUIRED, workProductRef: ref })
  else draft.move('task_output_submitted', 'system', { ...MERGER, workProductRef: ref })
  return { ok: true, reason: 'MERGED', record }
}
