import { hash } from 'node:crypto'
import type pg from 'pg'
import { oldestOrShares } from '../../../kernel/store/round-robin.ts'
import type { DueTask, DueVersion } from '../../../kernel/store/store.ts'
import { scopedQueries, scopedQuery } from '../../../postgres/statements/scoped-query.ts'

/**
 * What upkeep reads, across workspaces or (`only`) in one. It only reads: each change names its workspace and goes through
 * `transact`.
 */

/** There are few statements, and each is repeated for as long as the server runs: parsed once, and planned a few times. */
const everywhere = <T extends pg.QueryResultRow>(pool: pg.Pool, text: string, values: unknown[]) =>
  scopedQuery<T>(pool, 'baton.scope', 'upkeep', { name: nameOf(text), text, values })

const names = new Map<string, string>()

function nameOf(text: string): string {
  const name = names.get(text) ?? `upkeep_${hash('md5', text)}`
  names.set(text, name)
  return name
}

/** The same statement for both: a transaction that names a workspace does not see the rows of others. */
export const inScope = <T extends pg.QueryResultRow>(
  pool: pg.Pool,
  only: number | undefined,
  text: string,
  values: unknown[] = [],
) =>
  only === undefined
    ? everywhere<T>(pool, text, values)
    : scopedQuery<T>(pool, 'baton.workspace_id', String(only), { text, values })

// Evaluated once per statement: a bare call could differ from row to row, and no index could be used for it.
const NOW = '(select clock_timestamp())'

const TASK = `t.workspace_id as "workspaceId", t.id as "taskId", t.uuid, t.version, t.blocked as "isBlocked"`

interface DueQuery {
  /** In all workspaces, oldest first. $1 limit. */
  oldest: string
  /** Each workspace that may have something due, found by walking along an index. */
  workspaces: string
  /** In one workspace, by its own index. */
  of: (workspace: string, limit: string) => string
}

// Random ones, when there are more workspaces than the limit: if they were always the same, they could hide the others.
// $1 limit for all workspaces together.
const sharesOf = ({ workspaces, of }: DueQuery) =>
  `with recursive w(id) as (${workspaces})
   select d.* from w cross join lateral (
     ${of('w.id', '(select ceil($1::float8 / count(w.id))::int from w)')}) d where w.id is not null order by random() limit $1`

const walk = (from: string) =>
  `(select workspace_id from ${from} order by workspace_id limit 1)
   union all
   select (select workspace_id from ${from} and workspace_id > w.id order by workspace_id limit 1) from w where w.id is not null`

// A backlog may be newer than the statistics: expecting few rows, the planner would read all that is due and sort it.
const IN_ORDER = {
  text: `select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
                set_config('enable_sort', 'off', true)`,
}

async function readDue(by: DueQuery, pool: pg.Pool, limit: number, only: number | undefined) {
  const read = async (
    scope: 'baton.workspace_id' | 'baton.scope',
    value: string,
    text: string,
    values: unknown[],
  ) =>
    (
      await scopedQueries<DueVersion & pg.QueryResultRow>(pool, scope, value, [IN_ORDER, { text, values }])
    )[1]!
  if (only !== undefined) return read('baton.workspace_id', String(only), by.of('$1', '$2'), [only, limit])
  return oldestOrShares(
    limit,
    () => read('baton.scope', 'upkeep', by.oldest, [limit]),
    () => read('baton.scope', 'upkeep', sharesOf(by), [limit]),
  )
}

const IS_EXPIRED = `t.claim_state = 'active' and t.check_at <= ${NOW} and t.lease_expires_at <= ${NOW}`

// Held tasks whose check time has passed and whose lease has expired. For one workspace in any order: it has few active
// claims, but a sort would have to read them all.
const EXPIRED: DueQuery = {
  oldest: `select ${TASK} from tasks t where ${IS_EXPIRED} order by t.check_at limit $1`,
  workspaces: walk(`tasks where claim_state = 'active' and session is not null`),
  of: (workspace, limit) =>
    `select ${TASK} from tasks t where t.workspace_id = ${workspace} and t.session is not null and ${IS_EXPIRED} limit ${limit}`,
}

export const expiredLeases = (pool: pg.Pool, limit: number, only?: number) =>
  readDue(EXPIRED, pool, limit, only)

/** Claims that were renewed meanwhile: their check time moves to the new end of the lease. */
export const renewedLeases = (pool: pg.Pool, limit: number) =>
  everywhere<{ workspaceId: number; taskId: number; generation: number }>(
    pool,
    `select t.workspace_id as "workspaceId", t.id as "taskId", t.generation from tasks t
      where t.claim_state = 'active' and t.check_at <= ${NOW} and t.lease_expires_at > ${NOW}
      order by t.check_at limit $1`,
    [limit],
  )

// Locked in the order in which all lock tasks. One that another transaction has locked changes anyway, and is postponed in the
// next pass if it must be. $1 workspace, $2 tasks.
export const postponeChecks = (pool: pg.Pool, workspaceId: number, taskIds: readonly number[]) =>
  scopedQuery(pool, 'baton.workspace_id', String(workspaceId), {
    text: `with locked as materialized (
         select t.id from tasks t where t.workspace_id = $1 and t.id = any($2::bigint[]) and t.claim_state = 'active'
          order by t.id for no key update skip locked)
       update tasks t set check_at = t.lease_expires_at
        where t.workspace_id = $1 and t.id = any(array(select l.id from locked l))`,
    values: [workspaceId, taskIds],
  })

const CAN_BE_DUE = `t.state in ('pending', 'queued', 'awaiting_retry', 'verifying', 'assigned', 'running', 'continuing')`
const IS_DUE = `t.due_at <= ${NOW} and ${CAN_BE_DUE}`

/** For `nextDue`. */
export const EARLIEST_LEASE_CHECK = `select min(t.check_at) from tasks t where t.claim_state = 'active' and t.check_at is not null`
export const EARLIEST_DUE_TASK = `select t.due_at from tasks t where t.due_at is not null and ${CAN_BE_DUE} order by t.due_at limit 1`

// Due tasks: retries, scheduled starts, overdue verdicts, holders to be checked.
const DUE_TASKS: DueQuery = {
  oldest: `select ${TASK} from tasks t where ${IS_DUE} order by t.due_at limit $1`,
  workspaces: walk('tasks where workspace_id > 0 and due_at is not null'),
  of: (workspace, limit) =>
    `select ${TASK} from tasks t where t.workspace_id = ${workspace} and ${IS_DUE} order by t.due_at limit ${limit}`,
}

export const dueTasks = (pool: pg.Pool, limit: number, only?: number) => readDue(DUE_TASKS, pool, limit, only)

/** Sessions to check for missed heartbeats. */
export const dueSessions = (pool: pg.Pool, limit: number, only?: number) =>
  inScope<{ workspaceId: number; name: string }>(
    pool,
    only,
    `select workspace_id as "workspaceId", session as name from sessions where due_at <= ${NOW}
      order by row_number() over (partition by workspace_id order by due_at), due_at limit $1`,
    [limit],
  )

/** Agents to check for missed heartbeats, and leaving agents that no longer hold anything. */
export const dueAgents = (pool: pg.Pool, limit: number, only?: number) =>
  inScope<{ workspaceId: number; slug: string }>(
    pool,
    only,
    `select workspace_id as "workspaceId", slug from (
       select workspace_id, slug, due_at from agent_health where due_at <= ${NOW}
       union all
       select a.workspace_id, a.slug, null from agents a where a.leaving and not exists (
         select from tasks t where t.workspace_id = a.workspace_id and t.agent = a.slug and t.claim_state = 'active')) a
     group by workspace_id, slug
     order by row_number() over (partition by workspace_id order by min(due_at)), min(due_at) limit $1`,
    [limit],
  )

/** Held tasks that were not touched since. A workspace has few active claims, so their index is enough. */
export const heldUntouchedSince = (pool: pg.Pool, workspaceId: number, before: number, limit: number) =>
  scopedQuery<DueTask & pg.QueryResultRow>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select t.workspace_id as "workspaceId", t.id as "taskId", t.uuid
       from tasks t where t.workspace_id = $1 and t.claim_state = 'active' and t.session is not null
        and ms(t.updated_at) <= $2 order by t.updated_at limit $3`,
    values: [workspaceId, before, limit],
  })
