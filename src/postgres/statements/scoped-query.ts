import type pg from 'pg'
import { inOneWrite } from '../connection/in-one-write.ts'
import { asUnavailable, connectionFrom } from '../connection/unavailable.ts'
import * as sql from './statements.ts'

/** The setting that a transaction makes for the row policies: it decides which rows are visible. */
type Scope =
  | 'baton.workspace_id'
  | 'baton.workspace_name'
  | 'baton.key_hash'
  | 'baton.hook_id'
  | 'baton.scope'

// $1 which setting, $2 its value, for this transaction.
const setScope = sql.statement('set_scope', 'select set_config($1, $2, true)')

// The same, and every statement of the transaction is planned once per connection, by indexes alone.
const setScopeForFixedPlans = sql.statement(
  'set_scope_for_fixed_plans',
  `select set_config($1, $2, true), set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true)`,
)

interface Statement {
  /** A named statement is parsed and planned once per connection. */
  name?: string
  text: string
  values?: unknown[]
  rowMode?: 'array'
}

/**
 * For statements that go from row to row by key. Where many tasks depend on one, the planner assumes that many depend on
 * each, and would read the whole table every time. They are over before a second process would have begun to help.
 */
export const BY_KEYS: Statement = {
  name: 'by_keys',
  text: `select set_config('enable_seqscan', 'off', true), set_config('max_parallel_workers_per_gather', '0', true)`,
}

/** One statement in a transaction that sets its scope, in one round trip. */
export async function scopedQuery<R extends pg.QueryResultRow | unknown[]>(
  pool: pg.Pool,
  scope: Scope,
  value: string,
  statement: Statement,
): Promise<R[]> {
  return (await scopedQueries<R>(pool, scope, value, [statement]))[0]!
}

/** The same with several statements. */
export const scopedQueries = <R extends pg.QueryResultRow | unknown[]>(
  pool: pg.Pool,
  scope: Scope,
  value: string,
  statements: readonly Statement[],
): Promise<R[][]> => inScope<R>(pool, { scope, value }, statements)

/**
 * Reads that are repeated all the time, and of which each condition fits one index only: to plan such a statement takes longer than
 * to run it. A plan that was made while the tables were empty must be right when they are large, which query-plans.test.ts shows.
 */
export const plannedOnce = <R extends pg.QueryResultRow | unknown[]>(
  pool: pg.Pool,
  workspaceId: number,
  statements: readonly (Statement & { name: string })[],
): Promise<R[][]> =>
  inScope<R>(
    pool,
    { scope: 'baton.workspace_id', value: String(workspaceId), arePlansFixed: true },
    statements,
  )

interface InScope {
  scope: Scope
  value: string
  arePlansFixed?: true
}

async function inScope<R extends pg.QueryResultRow | unknown[]>(
  pool: pg.Pool,
  place: InScope,
  statements: readonly Statement[],
): Promise<R[][]> {
  const client = await connectionFrom(pool)
  let broken = true
  try {
    let first = 0
    const sent = inOneWrite(client, () => {
      const begun = beginIn(client, place)
      first = begun.length
      const asked = statements.map((statement) => client.query(statement as pg.QueryConfig))
      return [...begun, ...asked, client.query(sql.commit)]
    })
    const settled = await Promise.allSettled(sent)
    for (const outcome of settled) if (outcome.status === 'rejected') throw asUnavailable(outcome.reason)
    broken = false
    const answers = settled.slice(first, -1) as PromiseFulfilledResult<pg.QueryResult>[]
    return answers.map((answer) => answer.value.rows as R[])
  } finally {
    client.release(broken)
  }
}

/** What upkeep and the cluster read, several times a second on every node, begins with one message instead of two. */
const FIXED_SCOPES: readonly string[] = ['upkeep', 'cluster']

function beginIn(client: pg.PoolClient, { scope, value, arePlansFixed }: InScope): Promise<unknown>[] {
  if (scope === 'baton.scope' && FIXED_SCOPES.includes(value))
    return [client.query(`begin; set local baton.scope = '${value}'`)]
  const set = arePlansFixed ? setScopeForFixedPlans : setScope
  return [client.query(sql.begin), client.query({ ...set, values: [scope, value] })]
}

/** One read in a workspace, which is $1; the values start at $2. */
export const inside = <T extends pg.QueryResultRow>(
  pool: pg.Pool,
  workspaceId: number,
  text: string,
  values: unknown[] = [],
) =>
  scopedQuery<T>(pool, 'baton.workspace_id', String(workspaceId), { text, values: [workspaceId, ...values] })

/** The same by indexes alone: a limit makes the planner hope to find rows early in the whole table. */
export async function insideByKeys<T extends pg.QueryResultRow>(
  pool: pg.Pool,
  workspaceId: number,
  text: string,
  values: unknown[],
): Promise<T[]> {
  const statement = { text, values: [workspaceId, ...values] }
  const [, rows] = await scopedQueries<T>(pool, 'baton.workspace_id', String(workspaceId), [
    BY_KEYS,
    statement,
  ])
  return rows!
}
