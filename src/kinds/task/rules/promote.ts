import type { TaskReply } from '../../replies.ts'
import type { RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft } from '../record.ts'
import { closeForLateResults } from './fence.ts'
import { standBy } from './standing-result.ts'

type Promote = Extract<TaskCommand, { kind: 'promote' }>

/** A person accepts a rejected result after all. The present holder learns it at its next renewal. */
export function promote(draft: TaskDraft, command: Promote, context: RuleContext): TaskReply {
  const { record } = draft
  const { generation, session, hash, commit, ref, reason } = command
  const replaced = record.state === 'completed' ? record.resultHash : null
  closeForLateResults(record)
  draft.endClaim('PROMOTED')
  record.startedAt ??= context.now
  standBy(record, { hash, commit })
  record.dueAt = null
  record.blocked = false
  draft.effects.results.push({
    kind: 'promoted',
    taskId: record.id,
    epoch: record.epoch,
    generation,
    session,
    hash,
  })
  draft.move('task_result_promoted', context.actor, {
    promotedGeneration: generation,
    promotedSession: session,
    workProductRef: ref,
    replaced: replaced !== null,
    reason,
  })
  return { ok: true, reason: 'PROMOTED', workProductRef: ref, record }
}
