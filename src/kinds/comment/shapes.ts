import { z } from 'zod'
import { ACTOR_KINDS } from '../../pure/actors.ts'
import { listOf, Text, Uuid } from '../../pure/shapes.ts'

/** Comments on tasks and missions. */

/** How long it may be is judged after it was trimmed. */
const CommentText = Text.min(1).describe(
  '1 to 10,000 characters, without those that are blank at its beginning and its end',
)

export const CommentBody = z.strictObject({
  text: CommentText,
  replyTo: Uuid.optional().describe('A comment of the same thread'),
})

export const TaskCommentBody = CommentBody.extend({
  toHolder: z
    .boolean()
    .optional()
    .describe(
      'The agent that works on the task gets it at once, as what a person says: needs the right "operate"; refused if none works on it',
    ),
})

export const CommentView = z.object({
  id: Uuid,
  taskId: Uuid.nullable().describe('The task whose thread it is in; null: it is in the thread of a mission'),
  missionId: Uuid.nullable().describe(
    'The mission whose thread it is in; null: it is in the thread of a task',
  ),
  replyTo: Uuid.nullable(),
  text: z.string(),
  author: z.object({ kind: z.enum(ACTOR_KINDS), id: z.string().nullable(), name: z.string().nullable() }),
  at: z.string(),
})

export const CommentList = listOf(CommentView)
