import type { Changes } from '../../../kernel/batch/requests.ts'
import { arrayLiteral } from '../../../postgres/statements/rows.ts'
import { type Bound, columnsOf, insertInto, statement } from '../../../postgres/statements/statements.ts'
import type { CommentAdded } from '../record.ts'

/** Comments on the write path. */

/** Threads of tasks and of missions have different numbers. */
const threadOf = ({ taskId, missionId }: CommentAdded) => taskId ?? -missionId!

// Their numbers are drawn here, in the order of the batch, while their tasks and missions are locked.
const insertComments = insertInto(
  'comments',
  columnsOf({
    thread: 'bigint',
    uuid: 'uuid',
    task_id: 'bigint',
    mission_id: 'bigint',
    reply_to: 'bigint',
    author: 'text',
    text: 'text',
    created_at: 'instant',
  }),
)

// $1 workspace, $2 the task of each new comment.
const countComments = statement(
  'count_comments',
  `update task_details d set comment_count = d.comment_count + c.added
     from (select task_id, count(*)::int as added from unnest($2::bigint[]) as t(task_id) group by task_id) c
    where d.workspace_id = $1 and d.task_id = c.task_id`,
)

export function commentWrites(workspaceId: number, { comments }: Changes): Bound[] {
  if (comments.length === 0) return []
  const tasks = comments.map(({ taskId }) => taskId)
  const counted = tasks.filter((id) => id !== null)
  const writes: Bound[] = [
    insertComments(workspaceId, [
      comments.map(threadOf),
      comments.map(({ uuid }) => uuid),
      tasks,
      comments.map(({ missionId }) => missionId),
      comments.map(({ replyTo }) => replyTo?.id ?? null),
      comments.map(({ author }) => author),
      comments.map(({ text }) => text),
      comments.map(({ at }) => at),
    ]),
  ]
  if (counted.length > 0) writes.push([countComments, [workspaceId, arrayLiteral(counted)]])
  return writes
}
