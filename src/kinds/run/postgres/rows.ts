import type { Column } from '../../../postgres/statements/columns.ts'
import type { RunRecord, RuntimeState, TaskSession, WakeupRecord } from '../record.ts'

/** Wakeups, runs and what agents keep between runs, as rows: one table of columns for reading and for writing. */

type Kind = Column['type'] | 'decimal' | 'bytes'
export type Fields<T> = { readonly [F in keyof T & string]: readonly [column: string, kind: Kind] }

export const WAKEUP: Fields<WakeupRecord> = {
  id: ['wakeup_id', 'uuid'],
  agent: ['agent', 'text'],
  source: ['source', 'text'],
  triggerDetail: ['trigger_detail', 'text'],
  reason: ['reason', 'text'],
  payload: ['payload', 'json'],
  status: ['status', 'text'],
  skipReason: ['skip_reason', 'text'],
  coalescedCount: ['coalesced_count', 'int'],
  intoId: ['into_id', 'uuid'],
  requestedBy: ['requested_by', 'text'],
  taskId: ['task_uuid', 'uuid'],
  generation: ['generation', 'int'],
  depth: ['depth', 'smallint'],
  runId: ['run_id', 'uuid'],
  requestedAt: ['requested_at', 'instant'],
  dueAt: ['due_at', 'instant'],
  claimedAt: ['claimed_at', 'instant'],
  finishedAt: ['finished_at', 'instant'],
  error: ['error', 'text'],
  idempotencyKey: ['idempotency_key', 'text'],
  innerTaskId: ['task_id', 'bigint'],
  priority: ['priority', 'smallint'],
  isContinuation: ['is_continuation', 'boolean'],
}

export const RUN: Fields<RunRecord> = {
  id: ['run_id', 'uuid'],
  agent: ['agent', 'text'],
  agentId: ['agent_id', 'uuid'],
  adapterType: ['adapter_type', 'text'],
  wakeupId: ['wakeup_id', 'uuid'],
  source: ['source', 'text'],
  triggerDetail: ['trigger_detail', 'text'],
  reason: ['reason', 'text'],
  depth: ['depth', 'smallint'],
  status: ['status', 'text'],
  errorCode: ['error_code', 'text'],
  errorMessage: ['error_message', 'text'],
  taskId: ['task_uuid', 'uuid'],
  innerTaskId: ['task_id', 'bigint'],
  generation: ['generation', 'int'],
  attempt: ['attempt', 'int'],
  session: ['session', 'text'],
  nodeId: ['node_id', 'uuid'],
  bootId: ['boot_id', 'text'],
  pid: ['pid', 'int'],
  pidStarted: ['pid_started', 'text'],
  tokenHash: ['token_hash', 'bytes'],
  cancelReason: ['cancel_reason', 'text'],
  exitCode: ['exit_code', 'int'],
  signal: ['signal', 'text'],
  inputTokens: ['input_tokens', 'bigint'],
  cachedInputTokens: ['cached_input_tokens', 'bigint'],
  outputTokens: ['output_tokens', 'bigint'],
  cachedOutputTokens: ['cached_output_tokens', 'bigint'],
  costUsd: ['cost_usd', 'decimal'],
  usageBasis: ['usage_basis', 'text'],
  bookedTokens: ['booked_tokens', 'bigint'],
  bookedUsd: ['booked_usd', 'decimal'],
  isBooked: ['is_booked', 'boolean'],
  provider: ['provider', 'text'],
  model: ['model', 'text'],
  promptedTaskComment: ['told_task_comment', 'bigint'],
  toldMissionComment: ['told_mission_comment', 'bigint'],
  awaiting: ['awaiting', 'json'],
  answerDueAt: ['answer_due_at', 'instant'],
  sessionIdBefore: ['session_id_before', 'text'],
  sessionIdAfter: ['session_id_after', 'text'],
  statusMessage: ['status_message', 'text'],
  statusColor: ['status_color', 'text'],
  summary: ['summary', 'text'],
  result: ['result', 'json'],
  folder: ['folder', 'json'],
  stdoutExcerpt: ['stdout_excerpt', 'text'],
  stderrExcerpt: ['stderr_excerpt', 'text'],
  logStore: ['log_store', 'text'],
  logRef: ['log_ref', 'text'],
  logBytes: ['log_bytes', 'bigint'],
  logSha256: ['log_sha256', 'text'],
  logCompressed: ['log_compressed', 'boolean'],
  logTruncated: ['log_truncated', 'boolean'],
  logGoneAt: ['log_deleted_at', 'instant'],
  createdAt: ['created_at', 'instant'],
  startedAt: ['started_at', 'instant'],
  finishedAt: ['finished_at', 'instant'],
}

export const RUNTIME: Fields<RuntimeState> = {
  agent: ['agent', 'text'],
  adapterType: ['adapter_type', 'text'],
  sessionId: ['session_id', 'text'],
  state: ['state', 'json'],
  lastRunId: ['last_run_id', 'uuid'],
  lastRunStatus: ['last_run_status', 'text'],
  lastError: ['last_error', 'text'],
  runs: ['runs', 'bigint'],
  totalInputTokens: ['total_input_tokens', 'bigint'],
  totalOutputTokens: ['total_output_tokens', 'bigint'],
  totalCachedInputTokens: ['total_cached_input_tokens', 'bigint'],
  totalCostUsd: ['total_cost_usd', 'decimal'],
  unknownRuns: ['unknown_runs', 'bigint'],
  lastStartedAt: ['last_started_at', 'instant'],
  nextTimerAt: ['next_timer_at', 'instant'],
  parkedUntil: ['parked_until', 'instant'],
  updatedAt: ['updated_at', 'instant'],
}

export const SESSION: Fields<TaskSession> = {
  agent: ['agent', 'text'],
  adapterType: ['adapter_type', 'text'],
  taskKey: ['task_key', 'text'],
  sessionParams: ['session_params', 'json'],
  sessionDisplayId: ['session_display_id', 'text'],
  lastRunId: ['last_run_id', 'uuid'],
  lastError: ['last_error', 'text'],
  createdAt: ['created_at', 'instant'],
  updatedAt: ['updated_at', 'instant'],
}

const shown = (alias: string, column: string, kind: Kind) => {
  const value = `${alias}.${column}`
  if (kind === 'instant') return `ms(${value})`
  return kind === 'decimal' ? `trim_scale(${value})::text` : value
}

/** A select list whose names are the fields, without those that are left out. */
export const selected = <T>(fields: Fields<T>, alias: string, without: readonly (keyof T & string)[] = []) =>
  (Object.entries(fields) as [keyof T & string, readonly [string, Kind]][])
    .filter(([field]) => !without.includes(field))
    .map(([field, [column, kind]]) => `${shown(alias, column, kind)} as "${field}"`)
    .join(', ')

/** A select list in the order of the fields, for `readRow`. */
export const listed = <T>(fields: Fields<T>, alias: string) =>
  (Object.values(fields) as (readonly [string, Kind])[])
    .map(([column, kind]) => shown(alias, column, kind))
    .join(', ')

export const readRow = <T>(fields: Fields<T>, row: readonly unknown[]): T =>
  Object.fromEntries(Object.keys(fields).map((field, i) => [field, row[i]])) as T

/** As a parameter: JSON as text, undefined as null. */
export const sentValue = (kind: Kind, value: unknown) =>
  kind === 'json' && value != null ? JSON.stringify(value) : (value ?? null)

export const parameter = (kind: Kind, place: number) =>
  kind === 'instant' ? `to_timestamp($${place}::float8 / 1000)` : `$${place}`
