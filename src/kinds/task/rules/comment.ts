import { refuse } from '../../../pure/errors.ts'
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
  return { ok: true, reason: 'COMMENTED', comment: say(draft, command.comment, context) }
}

/** Also for what is said together with an act on the task. */
export function say({ record, effects }: TaskDraft, text: NewComment, context: RuleContext): CommentAdded {
  const { comment: added, event } = commentOnTask(record, text, context)
  effects.comments.push(added)
  effects.events.push(event)
  return added
}
