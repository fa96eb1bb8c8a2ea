import type pg from 'pg'
import { restsUntil } from '../../../core/runs/ending.ts'
import type { Connections } from '../kernel/connections.ts'
import { scopedQuery } from '../kernel/scoped-query.ts'
import { clockOf, lockRuntime } from './wakeups.ts'

/** The state of an agent that is kept between runs. */

export interface RuntimeState {
  agent: string
  adapterType: string
  sessionId: string | null
  state: unknown
  lastRunId: string | null
  lastRunStatus: string | null
  lastError: string | null
  runs: number
  totalInputTokens: number
  totalOutputTokens: number
  totalCachedInputTokens: number
  totalCostUsd: string
  lastStartedAt: number | null
  nextTimerAt: number | null
  parkedUntil: number | null
  updatedAt: number
}

export async function runtimeStateOf(
  pool: pg.Pool,
  workspaceId: number,
  agent: string,
): Promise<RuntimeState | null> {
  const [row] = await scopedQuery<RuntimeState & pg.QueryResultRow>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    {
      text: `select agent, adapter_type as "adapterType", session_id as "sessionId", state, last_run_id as "lastRunId",
          last_run_status as "lastRunStatus", last_error as "lastError", runs, total_input_tokens as "totalInputTokens",
          total_output_tokens as "totalOutputTokens", total_cached_input_tokens as "totalCachedInputTokens",
          trim_scale(total_cost_usd)::text as "totalCostUsd", ms(last_started_at) as "lastStartedAt",
          ms(next_timer_at) as "nextTimerAt", ms(parked_until) as "parkedUntil", ms(updated_at) as "updatedAt"
        from agent_runtime_state where workspace_id = $1 and agent = $2`,
      values: [workspaceId, agent],
    },
  )
  return row ?? null
}

export interface TaskSession {
  agent: string
  adapterType: string
  taskKey: string
  sessionParams: Record<string, unknown>
  sessionDisplayId: string | null
  lastRunId: string | null
  lastError: string | null
  createdAt: number
  updatedAt: number
}

export const taskSessionsOf = (
  pool: pg.Pool,
  workspaceId: number,
  agent: string,
  only: { adapterType: string; taskKey: string } | null = null,
) =>
  scopedQuery<TaskSession & pg.QueryResultRow>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select agent, adapter_type as "adapterType", task_key as "taskKey", session_params as "sessionParams",
        session_display_id as "sessionDisplayId", last_run_id as "lastRunId", last_error as "lastError",
        ms(created_at) as "createdAt", ms(updated_at) as "updatedAt"
      from agent_task_sessions where workspace_id = $1 and agent = $2 and ($3::text is null or adapter_type = $3)
        and ($4::text is null or task_key = $4) order by updated_at desc limit 1000`,
    values: [workspaceId, agent, only?.adapterType ?? null, only?.taskKey ?? null],
  })

/**
 * Deletes the adapter sessions of an agent, or the one of a task: the next run begins fresh. Returns how many there were.
 */
export function resetSessions(
  store: Connections,
  workspaceId: number,
  agent: string,
  taskKey: string | null,
  actor: string,
): Promise<number> {
  return store.change(workspaceId, async (tx) => {
    await lockRuntime(tx, workspaceId, [agent])
    const { rowCount } = await tx.query(
      `delete from agent_task_sessions where workspace_id = $1 and agent = $2 and ($3::text is null or task_key = $3)`,
      [workspaceId, agent, taskKey],
    )
    if (taskKey === null)
      await tx.query(
        `update agent_runtime_state set session_id = null where workspace_id = $1 and agent = $2`,
        [workspaceId, agent],
      )
    tx.emit('runtime_state_reset', actor, { agent, sessions: rowCount ?? 0 })
    return rowCount ?? 0
  })
}

/** Until when this credential is parked, if it is. */
export async function parkedUntil(
  pool: pg.Pool,
  workspaceId: number,
  credential: string,
): Promise<number | null> {
  const [row] = await scopedQuery<{ until: number }>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select ms(until) as until from parked_credentials
      where workspace_id = $1 and credential = $2 and until > clock_timestamp()`,
    values: [workspaceId, credential],
  })
  return row?.until ?? null
}

/**
 * No agent on this credential is started before it accepts work again; agents known to use it are not even tried. `told` is
 * that time, if the provider named one. Returns the resulting time, by the clock of the database.
 */
export function parkCredential(
  store: Connections,
  workspaceId: number,
  { credential, agents, told }: { credential: string; agents: readonly string[]; told: number | undefined },
): Promise<number> {
  const slugs = [...agents].sort()
  return store.change(workspaceId, async (tx) => {
    const until = restsUntil(told, await clockOf(tx))
    await tx.query(
      `insert into parked_credentials (workspace_id, credential, until) values ($1, $2, to_timestamp($3::float8 / 1000))
       on conflict (workspace_id, credential) do update set until = greatest(parked_credentials.until, excluded.until)`,
      [workspaceId, credential, until],
    )
    await lockRuntime(tx, workspaceId, slugs)
    await tx.query(
      `update agent_runtime_state set parked_until = greatest(parked_until, to_timestamp($3::float8 / 1000))
        where workspace_id = $1 and agent = any($2::text[])`,
      [workspaceId, slugs, until],
    )
    tx.emit('credential_parked', 'system', { agent: agents[0], agents: agents.length, until })
    return until
  })
}
