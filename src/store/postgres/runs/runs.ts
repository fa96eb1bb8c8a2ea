import { workspaceEvent } from '../../../core/events.ts'
import type { RunErrorCode, RunState } from '../../../core/runs/outcomes.ts'
import type { UsageBasis } from '../../../core/runs/usage.ts'
import type { Connections } from '../kernel/connections.ts'
import type { WorkspaceTransaction } from '../kernel/workspace-transaction.ts'
import { endWakeup } from './dispatch.ts'
import { clockOf, lockRuntime } from './wakeups.ts'

/** Runs from start to end. Every change of a run holds the lock of its agent's runtime state. */

export interface RunStart {
  workspaceId: number
  runId: string
  agent: string
  task: { id: number; uuid: string; generation: number; attempt: number; session: string } | null
  log: { store: string; logRef: string } | null
  sessionIdBefore: string | null
  folder: unknown
}

/** From here on its program may be running. False: the run has already ended. */
export function beginRun(store: Connections, start: RunStart): Promise<boolean> {
  const { workspaceId, runId, agent, task, log } = start
  return store.change(workspaceId, async (tx) => {
    const locked = lockRuntime(tx, workspaceId, [agent])
    const written = tx.query(
      `update runs set status = 'running', started_at = clock_timestamp(), task_id = $3, task_uuid = $4, generation = $5, attempt = $6,
              session = $7, log_store = $8, log_ref = $9, session_id_before = $10, folder = $11
        where workspace_id = $1 and run_id = $2 and status = 'queued'`,
      [
        ...[workspaceId, runId, task?.id ?? null, task?.uuid ?? null, task?.generation ?? null],
        ...[task?.attempt ?? null, task?.session ?? null, log?.store ?? null, log?.logRef ?? null],
        ...[start.sessionIdBefore, start.folder == null ? null : JSON.stringify(start.folder)],
      ],
    )
    const [, { rowCount }] = await Promise.all([locked, written])
    if (rowCount === 0) return hasBegun(tx, workspaceId, runId)
    const { attempt = null, generation = null, uuid: taskId = null } = task ?? {}
    tx.emit('run_started', `agent:${agent}`, { runId, agent, taskId, attempt, generation })
    return true
  })
}

/** Only its node begins a run: if it has begun, that was an earlier attempt whose answer was lost. */
async function hasBegun(tx: WorkspaceTransaction, workspaceId: number, runId: string): Promise<boolean> {
  const { rows } = await tx.query('select status from runs where workspace_id = $1 and run_id = $2', [
    workspaceId,
    runId,
  ])
  return rows[0]?.status === 'running'
}

export interface ProcessIdentity {
  pid: number
  startTime: string | null
  bootId: string | null
}

/** Identifies its process, in case this node is not there to end it. */
export const recordProcess = (
  store: Connections,
  workspaceId: number,
  runId: string,
  { pid, startTime, bootId }: ProcessIdentity,
) =>
  store.change(workspaceId, (tx) =>
    tx.query(
      `update runs set pid = $3, pid_started = $4, boot_id = $5 where workspace_id = $1 and run_id = $2 and status = 'running'`,
      [workspaceId, runId, pid, startTime, bootId],
    ),
  )

export interface Usage {
  inputTokens: number
  cachedInputTokens: number | null
  outputTokens: number
}

/** Usage and progress on the way: a lost run leaves at least this behind. */
export const reportRun = (
  store: Connections,
  {
    workspaceId,
    runId,
    agent,
    taskId,
  }: { workspaceId: number; runId: string; agent: string; taskId: string | null },
  report: {
    usage: Usage | null
    status: { message: string; color: string } | null
    sessionId: string | null
    flags: readonly { code: string; detail: string }[]
  },
) =>
  store.change(workspaceId, async (tx) => {
    const { usage, status, sessionId } = report
    await tx.query(
      `update runs set input_tokens = coalesce($3, input_tokens), cached_input_tokens = coalesce($4, cached_input_tokens),
              output_tokens = coalesce($5, output_tokens), usage_basis = case when $3::bigint is null then usage_basis else 'partial' end,
              status_message = coalesce($6, status_message), status_color = coalesce($7, status_color),
              session_id_after = coalesce($8, session_id_after)
        where workspace_id = $1 and run_id = $2 and status = 'running'`,
      [
        ...[workspaceId, runId, usage?.inputTokens ?? null, usage?.cachedInputTokens ?? null],
        ...[usage?.outputTokens ?? null, status?.message ?? null, status?.color ?? null, sessionId],
      ],
    )
    const who = { runId, agent, taskId }
    if (status) tx.emit('run_status', `agent:${agent}`, { ...who, ...status })
    for (const flag of report.flags) tx.emit('run_flagged', 'system', { ...who, ...flag })
  })

export interface RunEnd {
  workspaceId: number
  runId: string
  agent: string
  adapterType: string
  /** The task it was meant for, though it may not have begun. */
  task?: RunStart['task']
  status: Extract<RunState, 'succeeded' | 'failed' | 'cancelled' | 'timed_out'>
  errorCode: RunErrorCode | null
  errorMessage: string | null
  exitCode: number | null
  signal: string | null
  /** Null: the usage reported on the way stays. */
  usage: Usage | null
  usageBasis: UsageBasis | null
  costUsd: string | null
  provider: string | null
  model: string | null
  sessionId: string | null
  /** What the adapter gets at the next run: state under this key, or nothing. */
  taskSession: { taskKey: string; state: Record<string, unknown> } | null
  summary: string | null
  result: unknown
  folder: unknown
  excerpts: { stdout: string | null; stderr: string | null }
  log: { bytes: number; sha256: string; compressed: boolean; truncated: boolean } | null
}

/** Ends a run, once: its figures are added to the totals in the same transaction. False: it had already ended. */
export function finishRun(store: Connections, end: RunEnd): Promise<boolean> {
  const { workspaceId, runId, agent } = end
  return store.change(workspaceId, async (tx) => {
    await lockRuntime(tx, workspaceId, [agent])
    const finished = await writeEnd(tx, end)
    if (!finished) return false
    const runs = await addUp(tx, end, finished)
    if (end.taskSession) await storeTaskSession(tx, end)
    const isWell = end.status === 'succeeded'
    const status = isWell ? 'completed' : end.status === 'cancelled' ? 'cancelled' : 'failed'
    await endWakeup(tx, workspaceId, finished.wakeupId, status, { error: end.errorMessage })
    const now = await clockOf(tx)
    const said = workspaceEvent(
      'run_finished',
      {
        ...{ runId, agent, taskId: finished.taskId, status: end.status, errorCode: end.errorCode },
        ...{ exitCode: end.exitCode, inputTokens: finished.inputTokens, outputTokens: finished.outputTokens },
        ...{ cachedInputTokens: finished.cachedInputTokens, costUsd: end.costUsd },
        logTruncated: end.log?.truncated ?? false,
      },
      { actor: `agent:${agent}`, now },
    )
    tx.emit(said.type, said.actor, said.payload)
    if (runs !== null)
      tx.emit('runtime_state_updated', 'system', { agent, runs, lastRunId: runId, lastRunStatus: end.status })
    return true
  })
}

interface Finished {
  wakeupId: string | null
  taskId: string | null
  inputTokens: number | null
  cachedInputTokens: number | null
  outputTokens: number | null
}

async function writeEnd(tx: WorkspaceTransaction, end: RunEnd): Promise<Finished | undefined> {
  const { usage, log, excerpts, task } = end
  const { rows } = await tx.query(
    `update runs set status = $3, error_code = $4, error_message = $5, exit_code = $6, signal = $7,
            input_tokens = coalesce($8, input_tokens),
            cached_input_tokens = case when $8::bigint is null then cached_input_tokens else $9 end,
            output_tokens = coalesce($10, output_tokens), usage_basis = coalesce($11, usage_basis), cost_usd = $12, provider = $13,
            model = $14, session_id_after = coalesce($15, session_id_after), summary = $16, result = $17,
            folder = coalesce($18, folder), stdout_excerpt = $19, stderr_excerpt = $20, log_bytes = $21, log_sha256 = $22,
            log_compressed = coalesce($23, false), log_truncated = coalesce($24, false), token_hash = null,
            finished_at = clock_timestamp(), task_id = coalesce(task_id, $25), task_uuid = coalesce(task_uuid, $26),
            generation = coalesce(generation, $27), attempt = coalesce(attempt, $28), session = coalesce(session, $29)
      where workspace_id = $1 and run_id = $2 and status in ('queued', 'running')
      returning wakeup_id as "wakeupId", task_uuid as "taskId", input_tokens as "inputTokens",
        cached_input_tokens as "cachedInputTokens", output_tokens as "outputTokens"`,
    [
      ...[end.workspaceId, end.runId, end.status, end.errorCode, end.errorMessage, end.exitCode, end.signal],
      ...[usage?.inputTokens ?? null, usage?.cachedInputTokens ?? null, usage?.outputTokens ?? null],
      ...[usage ? end.usageBasis : null, end.costUsd, end.provider, end.model, end.sessionId, end.summary],
      end.result === undefined ? null : JSON.stringify(end.result),
      end.folder == null ? null : JSON.stringify(end.folder),
      ...[excerpts.stdout, excerpts.stderr],
      ...[log?.bytes ?? null, log?.sha256 ?? null, log?.compressed ?? null, log?.truncated ?? null],
      ...[task?.id ?? null, task?.uuid ?? null, task?.generation ?? null],
      ...[task?.attempt ?? null, task?.session ?? null],
    ],
  )
  return rows[0] as Finished | undefined
}

/** How many runs the agent has had; null when it was removed meanwhile. */
async function addUp(tx: WorkspaceTransaction, end: RunEnd, finished: Finished): Promise<number | null> {
  const { rows } = await tx.query(
    `update agent_runtime_state set runs = runs + 1, last_run_id = $3, last_run_status = $4, last_error = $5,
            session_id = coalesce($6, session_id), total_input_tokens = total_input_tokens + coalesce($7, 0),
            total_cached_input_tokens = total_cached_input_tokens + coalesce($8, 0),
            total_output_tokens = total_output_tokens + coalesce($9, 0), total_cost_usd = total_cost_usd + coalesce($10::numeric, 0),
            updated_at = clock_timestamp()
      where workspace_id = $1 and agent = $2 returning runs`,
    [
      ...[end.workspaceId, end.agent, end.runId, end.status, end.errorMessage, end.sessionId],
      ...[finished.inputTokens, finished.cachedInputTokens, finished.outputTokens, end.costUsd],
    ],
  )
  return rows[0] ? Number(rows[0].runs) : null
}

async function storeTaskSession(tx: WorkspaceTransaction, end: RunEnd): Promise<void> {
  await tx.query(
    `insert into agent_task_sessions (workspace_id, agent, adapter_type, task_key, session_params, session_display_id, last_run_id, last_error)
     select $1, a.slug, $3, $4, $5, $6, $7, $8 from agents a where a.workspace_id = $1 and a.slug = $2
     on conflict (workspace_id, agent, adapter_type, task_key) do update set session_params = excluded.session_params,
       session_display_id = excluded.session_display_id, last_run_id = excluded.last_run_id, last_error = excluded.last_error,
       updated_at = clock_timestamp()`,
    [
      ...[
        end.workspaceId,
        end.agent,
        end.adapterType,
        end.taskSession!.taskKey,
        JSON.stringify(end.taskSession!.state),
      ],
      ...[end.sessionId, end.runId, end.errorMessage],
    ],
  )
}

/** Requests a cancellation; its node sees the event and stops the run. False: it has ended. */
export function askToCancel(
  store: Connections,
  workspaceId: number,
  runId: string,
  { reason, actor }: { reason: string; actor: string },
): Promise<boolean> {
  return store.change(workspaceId, async (tx) => {
    const { rows } = await tx.query(
      `update runs set cancel_reason = coalesce(cancel_reason, $3) where workspace_id = $1 and run_id = $2 and status in ('queued', 'running')
       returning agent, task_uuid as "taskId"`,
      [workspaceId, runId, reason],
    )
    if (!rows[0]) return false
    tx.emit('run_cancel_requested', actor, { runId, ...rows[0], reason })
    return true
  })
}

export const logIsGone = (store: Connections, workspaceId: number, runId: string) =>
  store.change(workspaceId, (tx) =>
    tx.query('update runs set log_deleted_at = clock_timestamp() where workspace_id = $1 and run_id = $2', [
      workspaceId,
      runId,
    ]),
  )

export interface NewRunEvent {
  type: 'lifecycle' | 'status' | 'usage' | 'error' | 'structured'
  stream?: 'system' | 'stdout' | 'stderr' | undefined
  level?: 'info' | 'warn' | 'error' | undefined
  color?: string | undefined
  message?: string | undefined
  payload?: unknown
}

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
