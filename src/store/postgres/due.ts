import type pg from 'pg'
import type { TriggerRule } from '../../core/commands.ts'
import type { TaskState } from '../../core/states.ts'
import { scopedQuery } from './scoped-query.ts'

/** What upkeep asks across workspaces. It only asks: each change names its workspace and goes through the one door. */

export interface DueTask {
  workspaceId: number
  taskId: number
  uuid: string
}

export interface BlockedTask extends DueTask {
  triggerRule: TriggerRule
  upstream: TaskState[]
}

const everywhere = <T extends pg.QueryResultRow>(pool: pg.Pool, text: string, values: unknown[]) =>
  scopedQuery<T>(pool, 'baton.scope', 'upkeep', { text, values })

/** Active claims whose hour to be looked at has come and whose lease is over. */
export const expiredLeases = (pool: pg.Pool, limit: number) =>
  everywhere<DueTask>(
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
  everywhere<DueTask>(
    pool,
    `select workspace_id as "workspaceId", id as "taskId", uuid from tasks
      where due_at <= clock_timestamp() and state in ('pending', 'awaiting_retry', 'verifying')
      order by due_at limit $1`,
    [limit],
  )

/** Waiting tasks that depend on these ones, with the states of everything they wait for. */
export const downstreamOf = (pool: pg.Pool, workspaceId: number, taskIds: readonly number[]) =>
  everywhere<BlockedTask>(
    pool,
    `select t.workspace_id as "workspaceId", t.id as "taskId", t.uuid, min(d.trigger_rule) as "triggerRule", array_agg(u.state) as upstream
       from tasks t join task_dependencies d on d.workspace_id = t.workspace_id and d.task_id = t.id
       join tasks u on u.workspace_id = d.workspace_id and u.id = d.depends_on
      where t.workspace_id = $1 and t.blocked
        and t.id in (select task_id from task_dependencies where workspace_id = $1 and depends_on = any($2::bigint[]))
      group by t.workspace_id, t.id`,
    [workspaceId, taskIds],
  )

/** The safety net: blocked tasks whose last dependency ended without anybody telling them. */
export const forgottenTasks = (pool: pg.Pool, limit: number) =>
  everywhere<BlockedTask>(
    pool,
    `select t.workspace_id as "workspaceId", t.id as "taskId", t.uuid, min(d.trigger_rule) as "triggerRule", array_agg(u.state) as upstream
       from tasks t join task_dependencies d on d.workspace_id = t.workspace_id and d.task_id = t.id
       join tasks u on u.workspace_id = d.workspace_id and u.id = d.depends_on
      where t.blocked and t.state = 'pending'
      group by t.workspace_id, t.id
     having bool_and(u.state in ('completed', 'failed', 'cancelled', 'skipped'))
         or bool_or(u.state in ('failed', 'cancelled', 'skipped'))
      limit $1`,
    [limit],
  )

export const forgetOldReplies = (pool: pg.Pool) =>
  everywhere(
    pool,
    `delete from idempotency_keys where created_at < clock_timestamp() - interval '24 hours'`,
    [],
  )
