import type { RuleContext, TaskCommand } from '../commands.ts'
import { refuse } from '../errors.ts'
import { workProductRef } from '../keys.ts'
import type { TaskDraft } from '../records.ts'
import type { TaskReply } from '../replies.ts'
import { CLAIM_ENDS } from '../states.ts'
import { plus } from '../upstream.ts'
import { fail } from './attempts.ts'
import { closeForLateResults } from './fence.ts'
import { REVIEW_REQUIRED, verdictDueAt } from './result.ts'
import { moveByUpstream } from './upstream.ts'

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
  // While it did not wait, nobody counted: then all its dependencies are counted anew.
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

/** Baton itself holds a merge: a generation of its own keeps "one accepted result, one claim" true. */
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
  record.generation += 1
  record.claimState = CLAIM_ENDS.MERGED
  const at = context.now
  Object.assign(record, MERGER, { acquiredAt: at, leaseMs: 0, leaseExpiresAt: null })
  record.resultHash = submission.hash
  record.startedAt ??= at
  const { agent, session } = MERGER
  const claim = { taskId: record.id, generation: record.generation, agent, session, at }
  draft.effects.claims.push(
    { kind: 'opened', ...claim, leaseExpiresAt: at },
    { kind: 'ended', ...claim, state: CLAIM_ENDS.MERGED, reason: 'MERGED', acquiredAt: at },
  )
  const ref = workProductRef(record.key ?? record.uuid, record.generation, submission.hash)
  draft.effects.results.push({
    kind: 'written',
    taskId: record.id,
    epoch: record.epoch,
    generation: record.generation,
    session,
    agent,
    accepted: record.review === 'none' ? true : null,
    rejection: null,
    ref,
    hash: submission.hash,
    data: submission.data,
    summary: submission.summary,
    at,
  })
  // What is merged needs the same verdict as what an agent submits.
  record.dueAt = verdictDueAt(record, context)
  if (record.review === 'none')
    draft.move('task_merged', 'system', { parts: command.parts.length, workProductRef: ref })
  else if (record.review === 'human')
    draft.move('task_human_review_requested', 'system', { reason: REVIEW_REQUIRED, workProductRef: ref })
  else draft.move('task_output_submitted', 'system', { agent, session, workProductRef: ref })
  return { ok: true, reason: 'MERGED', record }
}
