import { refuse } from '../../../pure/errors.ts'
import { isHeld } from '../../../pure/states.ts'
import { type CommentAdded, commentOnTask, type NewComment } from '../../comment/record.ts'
import type { TaskReply } from '../../replies.ts'
import type { RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft } from '../record.ts'

/** Comments are possible whatever the state: people discuss results, too. They are no change of the task: its version stays. */
export function comment(
  draft: TaskDraft,
  command: Extract<TaskCommand, { kind: 'comment' }>,
  context: RuleContext,
): TaskReply {
  const { record } = draft
  if (record.archivedAt !== null)
    return refuse('WRONG_STATE', 'The task is archived: it takes no more comments.', {
      taskState: record.state,
    })
  const { comment: said, toHolder = false } = command
  if (toHolder && !isHeld(record.state))
    return refuse('WRONG_STATE', 'No agent is working on the task now. The next one reads your comment.', {
      taskState: record.state,
    })
  if (toHolder) tellHolder(draft, said, context.now)
  return { ok: true, reason: 'COMMENTED', comment: say(draft, said, context, toHolder) }
}

/** The holder is told only the last ones, and reads the rest in the thread. */
const MOST_MESSAGES = 5
const LONGEST_MESSAGE = 4_000

function tellHolder(draft: TaskDraft, { uuid, text }: NewComment, at: number): void {
  const { holder } = draft.record
  const message = { commentId: uuid, text: text.slice(0, LONGEST_MESSAGE).toWellFormed(), at }
  draft.tell({ ...holder, messages: [...(holder?.messages ?? []), message].slice(-MOST_MESSAGES) })
}

/** Also for what is said together with an act on the task. */
export function say(
  { record, effects }: TaskDraft,
  text: NewComment,
  context: RuleContext,
  toHolder = false,
): CommentAdded {
  const { comment: added, event } = commentOnTask(record, text, context)
  effects.comments.push(added)
  effects.events.push(toHolder ? { ...event, payload: { ...event.payload, toHolder } } : event)
  return added
}
