import type pg from 'pg'
import type { BlockedTask, DueTask } from '../store.ts'
import { scopedQuery } from './scoped-query.ts'

/** What upkeep asks across workspaces. It only asks: each change names its workspace and goes through the one door. */

const everywhere = <T extends pg.QueryResultRow>(pool: pg.Pool, text: string, values: unknown[]) =>
  scopedQuery<T>(pool, 'baton.scope', 'upkeep', { text, values })

/** Active claims whose hour to be looked at has come and whose lease is over. */
export const expiredLeases = (pool: pg.Pool, limit: number) =>
  everywhere<DueTask & pg.QueryResultRow>(
    pool,
    `select t.workspace_id as "workspaceId", t.id as "taskId", t.uuid
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

/** Tasks whose hour has come: retries, starts at a given time, verdicts that did not come. */
export const dueTasks = (pool: pg.Pool, limit: number) =>
  everywhere<DueTask & pg.QueryResultRow>(
    pool,
    `select workspace_id as "workspaceId", id as "taskId", uuid from tasks
      where due_at <= clock_timestamp() and state in ('pending', 'queued', 'awaiting_retry', 'verifying')
      order by due_at limit $1`,
    [limit],
  )

/** Waiting tasks that depend on these ones, with the states of everything they wait for. */
export const downstreamOf = (pool: pg.Pool, workspaceId: number, taskIds: readonly number[]) =>
  everywhere<BlockedTask & pg.QueryResultRow>(
    pool,
    `select t.workspace_id as "workspaceId", t.id as "taskId", t.uuid, t.merge, min(d.trigger_rule) as "triggerRule", array_agg(u.state) as upstream
       from tasks t join task_dependencies d on d.workspace_id = t.workspace_id and d.task_id = t.id
       join tasks u on u.workspace_id = d.workspace_id and u.id = d.depends_on
      where t.workspace_id = $1 and t.blocked
        and t.id in (select task_id from task_dependencies where workspace_id = $1 and depends_on = any($2::bigint[]))
      group by t.workspace_id, t.id`,
    [workspaceId, taskIds],
  )

/** The safety net: blocked tasks whose last dependency ended without anybody telling them. */
export const forgottenTasks = (pool: pg.Pool, limit: number) =>
  everywhere<BlockedTask & pg.QueryResultRow>(
    pool,
    `select t.workspace_id as "workspaceId", t.id as "taskId", t.uuid, t.merge, min(d.trigger_rule) as "triggerRule", array_agg(u.state) as upstream
       from tasks t join task_dependencies d on d.workspace_id = t.workspace_id and d.task_id = t.id
       join tasks u on u.workspace_id = d.workspace_id and u.id = d.depends_on
      where t.blocked and t.state = 'pending'
      group by t.workspace_id, t.id
     having bool_and(u.state in ('completed', 'failed', 'cancelled', 'skipped'))
         or bool_or(u.state in ('failed', 'cancelled', 'skipped'))
      limit $1`,
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
