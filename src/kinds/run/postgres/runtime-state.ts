import type pg from 'pg'
import { bind, type Connections } from '../../../postgres/statements/connections.ts'
import { scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import type { RuntimeState, TaskSession } from '../record.ts'
import { runtimeRows, sessionRows } from './rows.ts'

/** Reads what agents keep between runs. */

async function runtimeStateOf(
  pool: pg.Pool,
  workspaceId: number,
  agent: string,
): Promise<RuntimeState | null> {
  const [row] = await scopedQuery<RuntimeState & pg.QueryResultRow>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    {
      text: `select ${runtimeRows.named('s')} from agent_runtime_state s where s.workspace_id = $1 and s.agent = $2`,
      values: [workspaceId, agent],
    },
  )
  return row ?? null
}

const taskSessionsOf = (
  pool: pg.Pool,
  workspaceId: number,
  agent: string,
  only: { adapterType: string; taskKey: string } | null = null,
) =>
  scopedQuery<TaskSession & pg.QueryResultRow>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select ${sessionRows.named('s')} from agent_task_sessions s
      where s.workspace_id = $1 and s.agent = $2 and ($3::text is null or s.adapter_type = $3)
        and ($4::text is null or s.task_key = $4) order by s.updated_at desc limit 1000`,
    values: [workspaceId, agent, only?.adapterType ?? null, only?.taskKey ?? null],
  })

/** Until when this credential is parked, if it is. */
async function parkedUntil(pool: pg.Pool, workspaceId: number, credential: string): Promise<number | null> {
  const [row] = await scopedQuery<{ until: number }>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select ms(until) as until from parked_credentials
      where workspace_id = $1 and credential = $2 and until > clock_timestamp()`,
    values: [workspaceId, credential],
  })
  return row?.until ?? null
}

export const runtimeReads = ({ readers }: Connections) =>
  bind(readers, { parkedUntil, state: runtimeStateOf, taskSessions: taskSessionsOf })
