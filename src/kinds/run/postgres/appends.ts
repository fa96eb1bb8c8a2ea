import type { NewRunEvent, ProcessIdentity } from '../../../kernel/store/run-store.ts'
import type { Connections } from '../../../postgres/statements/connections.ts'
import { isRunning } from '../../../postgres/statements/run-states.ts'
import type { AgentCall } from '../shapes/told.ts'

/** What a run adds on its way: to its own row only while it is running, and to its timeline. No rule decides about it. */

/** Identifies its process, in case this node is not there to end it. */
export const recordProcess = (
  store: Connections,
  workspaceId: number,
  runId: string,
  { pid, startTime, bootId }: ProcessIdentity,
) =>
  store.change(workspaceId, (tx) =>
    tx.query(
      `update runs set pid = $3, pid_started = $4, boot_id = $5 where workspace_id = $1 and run_id = $2 and ${isRunning('status')}`,
      [workspaceId, runId, pid, startTime, bootId],
    ),
  )

/** How its agent was called. */
export const recordCall = (store: Connections, workspaceId: number, runId: string, call: AgentCall) =>
  store.change(workspaceId, (tx) =>
    tx.query(
      `update run_invocations i set call = $3 where i.workspace_id = $1 and i.run_id = $2 and exists (
         select from runs r where r.workspace_id = $1 and r.run_id = $2 and ${isRunning('r.status')})`,
      [workspaceId, runId, JSON.stringify(call)],
    ),
  )

/** What the run was told goes with its log. */
export const logIsGone = (store: Connections, workspaceId: number, runId: string) =>
  store.change(workspaceId, async (tx) => {
    const ids = [workspaceId, runId]
    await tx.query('delete from run_invocations where workspace_id = $1 and run_id = $2', ids)
    await tx.query(
      'update runs set log_deleted_at = clock_timestamp() where workspace_id = $1 and run_id = $2',
      ids,
    )
  })

/** The timeline of a run. One process writes and numbers it. */
export const appendRunEvents = (
  store: Connections,
  workspaceId: number,
  runId: string,
  firstSeq: number,
  events: readonly NewRunEvent[],
) =>
  store.change(workspaceId, (tx) =>
    tx.query(
      `insert into run_events (workspace_id, run_id, seq, event_type, stream, level, color, message, payload)
       select $1, $2, $3 + e.place - 1, e.type, e.stream, e.level, e.color, e.message, e.payload::json
         from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
           with ordinality as e(type, stream, level, color, message, payload, place)
       on conflict do nothing`,
      [
        ...[workspaceId, runId, firstSeq, events.map(({ type }) => type)],
        events.map(({ stream }) => stream ?? null),
        events.map(({ level }) => level ?? null),
        events.map(({ color }) => color ?? null),
        events.map(({ message }) => message ?? null),
        events.map(({ payload }) => (payload === undefined ? null : JSON.stringify(payload))),
      ],
    ),
  )
