import { refuse } from '../../../pure/errors.ts'
import type { TaskReply } from '../../replies.ts'
import type { RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft } from '../record.ts'
import { isAllowed } from './allowed-acts.ts'
import { closeForLateResults } from './fence.ts'
import { whyStale } from './question.ts'
import { claimAtOnce, dropPendingResult, storeResult } from './result-writes.ts'
import { standBy } from './standing-result.ts'
import { workProductRef } from './task-keys.ts'

type Complete = Extract<TaskCommand, { kind: 'complete' }>

/** A person gives the result. */
export function complete(draft: TaskDraft, command: Complete, context: RuleContext): TaskReply {
  const { record } = draft
  const { submission, comment } = command
  if (!isAllowed('complete', record.state))
    return refuse('WRONG_STATE', `A task that is ${record.state} cannot be completed; reset it first.`, {
      taskState: record.state,
    })
  if (record.purpose !== 'work')
    return refuse('WRONG_STATE', `A task of the purpose ${record.purpose} is not completed by a person.`)
  const stale = whyStale(record, command.generation)
  if (stale) return stale
  closeForLateResults(record)
  draft.endClaim('SUPERSEDED')
  dropPendingResult(draft, 'REPLACED')
  const by = claimAtOnce(draft, { agent: context.actor, session: `person:${context.actor}` }, 'COMPLETED')
  const ref = workProductRef(record.key ?? record.uuid, record.generation, submission.hash)
  standBy(record, submission)
  record.blocked = false
  draft.effects.details.push({ taskId: record.id, set: { error: null, failureClass: null } })
  storeResult(draft, submission, ref, by, true)
  draft.move('task_completed_by_person', context.actor, { workProductRef: ref, comment })
  return { ok: true, reason: 'COMPLETED', workProductRef: ref, record }
}
