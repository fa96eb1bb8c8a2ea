import type pg from 'pg'
import type { DueTask, TaskWithHour } from '../store.ts'
import { scopedQuery } from './scoped-query.ts'

/** What upkeep asks across workspaces. It only asks: each change names its workspace and goes through the one door. */

const everywhere = <T extends pg.QueryResultRow>(pool: pg.Pool, text: string, values: unknown[]) =>
  scopedQuery<T>(pool, 'baton.scope', 'upkeep', { text, values })

/** Active claims whose hour to be looked at has come and whose lease is over. */
export const expiredLeases = (pool: pg.Pool, limit: number) =>
  everywhere<TaskWithHour & pg.QueryResultRow>(
    pool,
    `select t.workspace_id as "workspaceId", t.id as "taskId", t.uuid, t.version, t.blocked as "isBlocked"
       from claims c join tasks t on t.workspace_id = c.workspace_id and t.id = c.task_id and t.generation = c.generation
      where c.state = 'active' and c.check_at <= clock_timestamp() and t.lease_expires_at <= clock_timestamp()
      order by c.check_at limit $1`,
    [limit],
  )

/** Claims that were renewed in the meantime are looked at again when their lease ends, not before. */
export const renewedLeases = (pool: pg.Pool, limit: number) =>
  everywhere<{ workspaceId: number; taskId: number; generation: number }>(
    pool,
    `select c.workspace_id as "workspaceId", c.task_id as "taskId", c.generation
       from claims c join tasks t on t.workspace_id = c.workspace_id and t.id = c.task_id and t.generation = c.generation
      where c.state = 'active' and c.check_at <= clock_timestamp() and t.lease_expires_at > clock_timestamp()
      order by c.check_at limit $1`,
    [limit],
  )

export const lookAgainLater = (pool: pg.Pool, workspaceId: number, taskIds: readonly number[]) =>
  scopedQuery(pool, 'baton.workspace_id', String(workspaceId), {
    text: `update claims c set check_at = t.lease_expires_at from tasks t
        where c.workspace_id = $1 and c.task_id = any($2::bigint[]) and c.state = 'active'
          and t.workspace_id = c.workspace_id and t.id = c.task_id and t.generation = c.generation`,
    values: [workspaceId, taskIds],
  })

/** Tasks whose hour has come: retries, starts at a given time, verdicts that did not come, holders to be looked at. */
export const dueTasks = (pool: pg.Pool, limit: number) =>
  everywhere<TaskWithHour & pg.QueryResultRow>(
    pool,
    `select workspace_id as "workspaceId", id as "taskId", uuid, version, blocked as "isBlocked" from tasks
      where due_at <= clock_timestamp() and state in ('pending', 'queued', 'awaiting_retry', 'verifying', 'assigned', 'running', 'continuing')
      order by due_at limit $1`,
    [limit],
  )

/** Sessions whose silence is to be judged. */
export const dueSessions = (pool: pg.Pool, limit: number) =>
  everywhere<{ workspaceId: number; name: string }>(
    pool,
    `select workspace_id as "workspaceId", session as name from sessions
      where due_at <= clock_timestamp() order by due_at limit $1`,
    [limit],
  )

/** Agents whose silence is to be judged, and those that leave when they hold nothing any more. */
export const dueAgents = (pool: pg.Pool, limit: number) =>
  everywhere<{ workspaceId: number; slug: string }>(
    pool,
    `(select workspace_id as "workspaceId", slug from agent_health
       where due_at <= clock_timestamp() order by due_at limit $1)
     union
     (select a.workspace_id, a.slug from agents a where a.leaving and not exists (
        select from claims c where c.workspace_id = a.workspace_id and c.agent = a.slug and c.state = 'active') limit $1)`,
    [limit],
  )

/** Held tasks that nobody touched since. The active claims of a workspace are few, so the index on them is all this needs. */
export const heldUntouchedSince = (pool: pg.Pool, workspaceId: number, before: number, limit: number) =>
  scopedQuery<DueTask & pg.QueryResultRow>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select t.workspace_id as "workspaceId", t.id as "taskId", t.uuid
       from claims c join tasks t on t.workspace_id = c.workspace_id and t.id = c.task_id
      where c.workspace_id = $1 and c.state = 'active' and ms(t.updated_at) <= $2 order by t.updated_at limit $3`,
    values: [workspaceId, before, limit],
  })

const forgetOldReplies = (pool: pg.Pool) =>
  everywhere(
    pool,
    `delete from idempotency_keys where created_at < clock_timestamp() - interval '24 hours'`,
    [],
  )

/** Generations of finished tasks that are older than their workspace keeps. Results and events stay. */
const forgetOldClaims = (pool: pg.Pool) =>
  everywhere(
    pool,
    `delete from claims c using limits l, tasks t
      where l.workspace_id = c.workspace_id and t.workspace_id = c.workspace_id and t.id = c.task_id
        and c.acquired_at < now() - make_interval(days => (select min(claim_history_retention_days) from limits))
        and c.ended_at < now() - make_interval(days => l.claim_history_retention_days)
        and t.state in ('completed', 'failed', 'cancelled', 'skipped')`,
    [],
  )

export async function forgetThePast(pool: pg.Pool): Promise<void> {
  await forgetOldReplies(pool)
  await forgetOldClaims(pool)
}
