import type pg from 'pg'
import type { Changes } from '../../kernel/batch/requests.ts'
import type { StoredComment, Thread, UnreadComments } from '../../kernel/store/comment-reads.ts'
import { bind, type Connections } from '../../postgres/statements/connections.ts'
import { arrayLiteral } from '../../postgres/statements/rows.ts'
import { hasReadItsPrompt } from '../../postgres/statements/run-states.ts'
import { inside } from '../../postgres/statements/scoped-query.ts'
import { type Bound, columnsOf, insertInto, statement } from '../../postgres/statements/statements.ts'
import type { Stored } from '../../postgres/statements/stored-kind.ts'
import type { CommentAdded } from './record.ts'

/** Threads, and the comments that an agent has not seen yet. */

const COLUMNS = `c.comment_id as id, c.uuid, c.text, c.author, ms(c.created_at) as at,
  case when c.task_id is null then 'mission' else 'task' end as "on",
  (select r.uuid from comments r
    where r.workspace_id = c.workspace_id and r.thread = c.thread and r.comment_id = c.reply_to) as "replyTo"`

/** As its rows name it. */
const numberOf = ({ on, id }: Thread) => (on === 'task' ? id : -id)

/** Oldest first. */
export const listComments = (
  pool: pg.Pool,
  workspaceId: number,
  thread: Thread,
  after: number,
  limit: number,
): Promise<StoredComment[]> =>
  inside<StoredComment & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select ${COLUMNS} from comments c where c.workspace_id = $1 and c.thread = $2 and c.comment_id > $3
      order by c.comment_id limit $4`,
    [numberOf(thread), after, limit],
  )

/** The number of a comment of this thread. */
export async function findComment(
  pool: pg.Pool,
  workspaceId: number,
  thread: Thread,
  uuid: string,
): Promise<number | null> {
  const [found] = await inside<{ id: number }>(
    pool,
    workspaceId,
    `select c.comment_id as id from comments c where c.workspace_id = $1 and c.uuid = $2 and c.thread = $3`,
    [uuid, numberOf(thread)],
  )
  return found?.id ?? null
}

// Both threads after what the prompts of its successful runs contained. $1 workspace, $2 task, $3 its mission or null.
const UNREAD = `with told as (
    select coalesce(max(r.told_task_comment), 0) as task, coalesce(max(r.told_mission_comment), 0) as mission
      from runs r where r.workspace_id = $1 and r.task_id = $2 and ${hasReadItsPrompt('r.status')}),
  unread as materialized (
    select c.thread, c.comment_id from comments c, told
     where c.workspace_id = $1 and c.thread = $2::bigint and c.comment_id > told.task
    union all
    select c.thread, c.comment_id from comments c, told
     where c.workspace_id = $1 and c.thread = -$3::bigint and c.comment_id > told.mission)`

/** The newest of them, oldest first. */
export async function unreadComments(
  pool: pg.Pool,
  workspaceId: number,
  task: { id: number; missionId: number | null },
  limit: number,
): Promise<UnreadComments> {
  const rows = await inside<StoredComment & { total: number; upToTask: number; upToMission: number }>(
    pool,
    workspaceId,
    `${UNREAD} select ${COLUMNS}, a.* from
       (select count(*) as total, max(u.comment_id) filter (where u.thread > 0) as "upToTask",
               max(u.comment_id) filter (where u.thread < 0) as "upToMission" from unread u) a,
       (select u.thread, u.comment_id from unread u order by u.comment_id desc limit $4) n
       join comments c on c.workspace_id = $1 and c.thread = n.thread and c.comment_id = n.comment_id
      order by c.comment_id`,
    [task.id, task.missionId, limit],
  )
  const { total = 0, upToTask = null, upToMission = null } = rows[0] ?? {}
  const comments = rows.map(
    ({ total: _total, upToTask: _task, upToMission: _mission, ...comment }) => comment,
  )
  return { comments, total, upTo: { task: upToTask, mission: upToMission } }
}

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

export const storedComments: Stored = {
  tables: { comments: 'select, insert' },
}

export const commentReads = ({ readers }: Connections) =>
  bind(readers, { list: listComments, find: findComment, unread: unreadComments })
