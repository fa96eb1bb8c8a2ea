import type pg from 'pg'
import type { RunMessage } from '../../../kernel/store/run-store.ts'
import { inside } from '../../../postgres/statements/scoped-query.ts'

/** Messages of agents that answer later, in rows. They are written and deleted with the changes of their run. */

/** Those after a number, oldest first, and which node has the run now; null: there is no such run. */
export async function messagesOfRun(
  pool: pg.Pool,
  workspaceId: number,
  runId: string,
  after: number,
): Promise<{ nodeId: string | null; messages: RunMessage[] }> {
  const rows = await inside<{ nodeId: string; number: number | null; message: RunMessage['message'] | null }>(
    pool,
    workspaceId,
    `select r.node_id as "nodeId", m.number, m.message from runs r
       left join run_messages m on m.workspace_id = r.workspace_id and m.run_id = r.run_id and m.number > $3
      where r.workspace_id = $1 and r.run_id = $2 order by m.number`,
    [runId, after],
  )
  const messages = rows.flatMap(({ number, message }) =>
    number === null || message === null ? [] : [{ number, message }],
  )
  return { nodeId: rows[0]?.nodeId ?? null, messages }
}

/** The number of the last event in the timeline of a run; 0: there is none. */
export async function lastEventSeq(pool: pg.Pool, workspaceId: number, runId: string): Promise<number> {
  const text = `select coalesce(max(seq), 0) as seq from run_events where workspace_id = $1 and run_id = $2`
  return (await inside<{ seq: number }>(pool, workspaceId, text, [runId]))[0]!.seq
}
