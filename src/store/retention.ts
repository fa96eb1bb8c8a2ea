import type pg from 'pg'
import { forgetOldAlerts } from '../kinds/alert/postgres/alerts.ts'
import { forgetOldDeliveries } from '../kinds/hook-delivery/postgres.ts'
import { forgetOldSignIns } from '../kinds/sign-in/postgres.ts'
import { firstUnseenAt } from '../postgres/statements/log-cursors.ts'
import { forgetOldTails } from '../postgres/statements/log-tail.ts'
import { scopedQueries } from '../postgres/statements/scoped-query.ts'

/** What is forgotten with time. */

/** Connections for writing plan for transactions on few rows (PLAN_FOR_WRITING); these statements look through many. */
const PLAN_FREELY = {
  text: `select set_config('plan_cache_mode', 'auto', true), set_config('enable_seqscan', 'on', true),
                set_config('enable_bitmapscan', 'on', true), set_config('enable_nestloop', 'on', true),
                set_config('enable_mergejoin', 'on', true)`,
}

async function freely<T extends pg.QueryResultRow>(
  pool: pg.Pool,
  text: string,
  workspaceId?: number,
): Promise<T[]> {
  const [scope, value] =
    workspaceId === undefined
      ? (['baton.scope', 'upkeep'] as const)
      : (['baton.workspace_id', String(workspaceId)] as const)
  return (await scopedQueries<T>(pool, scope, value, [PLAN_FREELY, { text }]))[1]!
}

// All but the names under which agents added tasks (kinds/task/acts/children.ts): those are used once, for ever. The condition is
// that of the index.
const forgetOldReplies = (pool: pg.Pool) =>
  freely(
    pool,
    `delete from idempotency_keys where created_at < clock_timestamp() - interval '24 hours' and key not like 'task child-of:%'`,
  )

// Of finished tasks, the claims that are past their workspace's retention, unless a follower of the log has yet to see their
// end.
const LIMITS = `(select l.*, ${firstUnseenAt('l.workspace_id')} as unseen_at from limits l offset 0) l`
const IS_OLD = `a.ended_at < now() - make_interval(days => (select min(claim_history_retention_days) from limits))
        and a.ended_at < now() - make_interval(days => l.claim_history_retention_days)
        and (l.unseen_at is null or a.ended_at < l.unseen_at)
        and l.workspace_id = a.workspace_id and t.workspace_id = a.workspace_id and t.id = a.task_id
        and t.state in ('completed', 'failed', 'cancelled', 'skipped')`

/** Results and events stay: of an attempt with a result only the claim is forgotten, workspace by workspace. */
async function forgetOldClaims(pool: pg.Pool): Promise<void> {
  await freely(
    pool,
    `delete from attempts a using ${LIMITS}, tasks t where ${IS_OLD} and a.hash is null and a.promoted_in = 0`,
  )
  const found = await freely<{ workspaceId: number }>(
    pool,
    `select distinct a.workspace_id as "workspaceId" from attempts a, ${LIMITS}, tasks t where ${IS_OLD}`,
  )
  for (const { workspaceId } of found)
    await freely(
      pool,
      `update attempts a set state = null, acquired_at = null, ended_at = null, end_reason = null from ${LIMITS}, tasks t
        where ${IS_OLD}`,
      workspaceId,
    )
}

export async function applyRetention(pool: pg.Pool): Promise<void> {
  await forgetOldReplies(pool)
  await forgetOldClaims(pool)
  await forgetOldTails(pool)
  await forgetOldSignIns(pool)
  await forgetOldDeliveries(pool)
  await forgetOldAlerts(pool)
}
