import { spentOnTask } from '../../../core/runs/run-life.ts'
import type { UsedByRuns } from '../../../core/runs/step.ts'
import type { AgentCall } from '../../../core/shapes/told.ts'
import type { NewRunEvent, ProcessIdentity, RunReported } from '../../run-store.ts'
import type { Connections } from '../kernel/connections.ts'
import type { WorkspaceTransaction } from '../kernel/workspace-transaction.ts'
import { isRunning } from './state-lists.ts'
import { lockSpending, usedByOthers } from './statements.ts'

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

/** Usage and progress on the way: a lost run leaves at least this behind. */
export const reportRun = (
  store: Connections,
  {
    workspaceId,
    runId,
    agent,
    taskId,
  }: { workspaceId: number; runId: string; agent: string; taskId: string | null },
  report: RunReported,
) =>
  store.change(workspaceId, async (tx) => {
    const { usage, status, sessionId } = report
    const updated = await tx.query(
      `update runs set input_tokens = coalesce($3, input_tokens), cached_input_tokens = coalesce($4, cached_input_tokens),
              output_tokens = coalesce($5, output_tokens), usage_basis = case when $3::bigint is null then usage_basis else 'partial' end,
              status_message = coalesce($6, status_message), status_color = coalesce($7, status_color),
              session_id_after = coalesce($8, session_id_after)
        where workspace_id = $1 and run_id = $2 and ${isRunning('status')}
        returning input_tokens as "inputTokens", cached_input_tokens as "cachedInputTokens", output_tokens as "outputTokens"`,
      [
        ...[workspaceId, runId, usage?.inputTokens ?? null, usage?.cachedInputTokens ?? null],
        ...[usage?.outputTokens ?? null, status?.message ?? null, status?.color ?? null, sessionId],
      ],
    )
    const who = { runId, agent, taskId }
    const [used] = updated.rows
    if (report.isUsageReported && used && taskId !== null) {
      const [spent] = await spentBesides(tx, workspaceId, runId)
      const onTask = spentOnTask({ ...used, costUsd: null }, spent)
      tx.emit('run_usage', `agent:${agent}`, { ...who, ...used, ...onTask })
    }
    if (status) tx.emit('run_status', `agent:${agent}`, { ...who, ...status })
    for (const flag of report.flags) tx.emit('run_flagged', 'system', { ...who, ...flag })
  })

async function spentBesides(tx: WorkspaceTransaction, workspaceId: number, runId: string) {
  const asked = [workspaceId, [runId], [null]]
  await tx.query(lockSpending.text, asked)
  const rows = await tx.rows(usedByOthers.text, asked)
  return rows.map(([, tokens, costUsd]) => ({ tokens, costUsd }) as UsedByRuns)
}

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
