import {
  bigint,
  boolean,
  bytes,
  decimal,
  instant,
  int,
  json,
  only,
  orNull,
  type RecordOf,
  smallint,
  text,
  uuid,
} from '../../pure/fields.ts'
import type { CostBasis, ModelTotals } from '../usage/record.ts'
import type { Timed } from '../usage/rules/time.ts'
import type { RunErrorCode } from './rules/outcomes.ts'
import type { UsageBasis } from './rules/usage.ts'
import type { TriggerDetail, WakeupSource } from './rules/wakeups.ts'
import type { Told } from './shapes/told.ts'
import type { RunEndState, RunState, WakeupState } from './states.ts'

/** Wakeups, runs, and what agents keep between runs, as every store holds them. */

export const SHOWN_WAKEUP_FIELDS = {
  id: uuid('wakeup_id'),
  agent: text(),
  source: text<WakeupSource>(),
  triggerDetail: orNull(text<TriggerDetail>()),
  reason: orNull(text()),
  payload: json(),
  status: text<WakeupState>(),
  skipReason: orNull(text()),
  coalescedCount: int(),
  intoId: orNull(uuid()),
  requestedBy: text(),
  taskUuid: orNull(uuid()),
  generation: orNull(int()),
  depth: smallint(),
  runId: orNull(uuid()),
  requestedAt: instant(),
  dueAt: instant(),
  claimedAt: orNull(instant()),
  finishedAt: orNull(instant()),
  error: orNull(text()),
}

/** A wakeup as it is shown. */
export interface Wakeup extends RecordOf<typeof SHOWN_WAKEUP_FIELDS> {}

export const WAKEUP_FIELDS = {
  ...SHOWN_WAKEUP_FIELDS,
  idempotencyKey: orNull(text()),
  /** The internal id of its task; 0: it has none. */
  taskId: bigint(),
  priority: smallint(),
  isContinuation: boolean(),
}

export interface WakeupRecord extends RecordOf<typeof WAKEUP_FIELDS> {}

/** Only what is shown. */
export const shownWakeup = (record: WakeupRecord): Wakeup => only(SHOWN_WAKEUP_FIELDS, record)

/** The task of a run, under the claim it holds. */
interface RunTask {
  id: number
  uuid: string
  generation: number
  attempt: number
  session: string
  /** The internal id of its mission, for the events of the run. */
  missionId?: number | null | undefined
}

/** What is known of an agent that may answer later. */
export interface Awaiting {
  /** How many messages were taken, and how many of them the node of the run has handled. */
  taken: number
  read: number
  /** Its answer is among them: a result or a failure. */
  isAnswered: boolean
  /** What the adapter needs to wait for the rest on another node. */
  state: Record<string, unknown> | null
}

export const SHOWN_RUN_FIELDS = {
  id: uuid('run_id'),
  agent: text(),
  agentId: uuid(),
  adapterType: text(),
  wakeupId: orNull(uuid()),
  source: text(),
  triggerDetail: orNull(text()),
  reason: orNull(text()),
  status: text<RunState>(),
  errorCode: orNull(text()),
  errorMessage: orNull(text()),
  taskUuid: orNull(uuid()),
  taskId: orNull(bigint()),
  generation: orNull(int()),
  attempt: orNull(int()),
  session: orNull(text()),
  nodeId: uuid(),
  bootId: orNull(text()),
  pid: orNull(int()),
  pidStarted: orNull(text()),
  cancelReason: orNull(text()),
  exitCode: orNull(int()),
  signal: orNull(text()),
  inputTokens: orNull(bigint()),
  cachedInputTokens: orNull(bigint()),
  outputTokens: orNull(bigint()),
  /** A part of the output; null: not reported, as by most programs. */
  cachedOutputTokens: orNull(bigint()),
  /** Decimal dollars. */
  costUsd: orNull(decimal()),
  /** How it is known; null: nothing of it is, or the run is from before it was kept. */
  costBasis: orNull(text<CostBasis>()),
  usageBasis: orNull(text()),
  /** How much of its usage the totals of its mission have. */
  bookedTokens: bigint(),
  bookedUsd: orNull(decimal()),
  /** They have counted it as a run. */
  isBooked: boolean(),
  provider: orNull(text()),
  model: orNull(text()),
  /** Messages of an agent that may answer later; null: none are expected. */
  awaiting: orNull(json<Awaiting>()),
  /** Its agent has accepted the work and answers by then: until then the run outlives its node. */
  answerDueAt: orNull(instant()),
  sessionIdBefore: orNull(text()),
  sessionIdAfter: orNull(text()),
  statusMessage: orNull(text()),
  statusColor: orNull(text()),
  summary: orNull(text()),
  result: json(),
  folder: json(),
  stdoutExcerpt: orNull(text()),
  stderrExcerpt: orNull(text()),
  logStore: orNull(text()),
  logRef: orNull(text()),
  logBytes: orNull(bigint()),
  logSha256: orNull(text()),
  logCompressed: boolean(),
  logTruncated: boolean(),
  logGoneAt: orNull(instant('log_deleted_at')),
  createdAt: instant(),
  startedAt: orNull(instant()),
  finishedAt: orNull(instant()),
}

/** A run as people read it, and as its node monitors it. */
export interface Run extends RecordOf<typeof SHOWN_RUN_FIELDS> {
  workspaceId: number
}

export const RUN_FIELDS = {
  ...SHOWN_RUN_FIELDS,
  /** How many runs, each of which woke the next, led to it. */
  depth: smallint(),
  /** Of its token only the SHA-256 is stored, and only while the run is live. */
  tokenHash: orNull(bytes()),
  /** The last comments that its prompt contained: of its task, and of the mission. They are read when the run succeeds. */
  promptedTaskComment: orNull(bigint('told_task_comment')),
  toldMissionComment: orNull(bigint()),
}

export interface RunRecord extends RecordOf<typeof RUN_FIELDS> {}

/** A run that had a folder. */
export interface RunWork extends Pick<Run, 'id' | 'agent' | 'status' | 'nodeId' | 'folder' | 'finishedAt'> {
  generation: number
  /** The name of its node, if that is still known. */
  node: string | null
}

export const RUNTIME_FIELDS = {
  agent: text(),
  adapterType: text(),
  sessionId: orNull(text()),
  /** What its last run that said so keeps for the next, whatever its task. */
  state: json(),
  lastRunId: orNull(uuid()),
  lastRunStatus: orNull(text()),
  lastError: orNull(text()),
  runs: bigint(),
  totalInputTokens: bigint(),
  totalOutputTokens: bigint(),
  totalCachedInputTokens: bigint(),
  /** Decimal dollars. */
  totalCostUsd: decimal(),
  /** Of its runs, those whose cost is unknown. */
  unknownRuns: bigint(),
  lastStartedAt: orNull(instant()),
  nextTimerAt: orNull(instant()),
  parkedUntil: orNull(instant()),
  updatedAt: instant(),
}

/** The state of an agent that is kept between runs. */
export interface RuntimeState extends RecordOf<typeof RUNTIME_FIELDS> {}

export const TASK_SESSION_FIELDS = {
  agent: text(),
  adapterType: text(),
  taskKey: text(),
  sessionParams: json<Record<string, unknown>>(),
  sessionDisplayId: orNull(text()),
  lastRunId: orNull(uuid()),
  lastError: orNull(text()),
  createdAt: instant(),
  updatedAt: instant(),
}

/** The session of an agent's program for a task; '' is the key of runs without a task. */
export interface TaskSession extends RecordOf<typeof TASK_SESSION_FIELDS> {}

export interface Usage {
  inputTokens: number
  cachedInputTokens: number | null
  outputTokens: number
  cachedOutputTokens?: number | null
}

export interface RunStart {
  workspaceId: number
  runId: string
  agent: string
  task: RunTask | null
  log: { store: string; logRef: string } | null
  /** The model it was started with; null: its program decides. */
  model?: string | null
  sessionIdBefore: string | null
  /** The last comments that its prompt contains. */
  promptedComments?: { task: number | null; mission: number | null } | undefined
  /** Its prompt, as it is kept. */
  told?: Told | undefined
  folder: unknown
}

export interface RunEnd {
  workspaceId: number
  runId: string
  agent: string
  adapterType: string
  /** The task it was meant for, though it may not have begun. */
  task?: RunTask | null
  status: RunEndState
  errorCode: RunErrorCode | null
  errorMessage: string | null
  exitCode: number | null
  signal: string | null
  /** Null: the usage reported on the way stays. */
  usage: Usage | null
  usageBasis: UsageBasis | null
  costUsd: string | null
  costBasis: CostBasis | null
  /** The same by model; null: what was reported on the way stays. */
  models: Readonly<Record<string, ModelTotals>> | null
  /** What the time that it has worked costs; null: the time that was booked on the way stays, since nobody saw its end. */
  time?: Timed | null | undefined
  provider: string | null
  model: string | null
  sessionId: string | null
  /** What the adapter gets at the next run: state under this key, or nothing. */
  taskSession: { taskKey: string; state: Record<string, unknown> } | null
  /** What the agent keeps for its next run, whatever its task; null: what it kept before. */
  agentState: Record<string, unknown> | null
  summary: string | null
  result: unknown
  folder: unknown
  excerpts: { stdout: string | null; stderr: string | null }
  log: { bytes: number; sha256: string; compressed: boolean; truncated: boolean } | null
}
