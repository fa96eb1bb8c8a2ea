import type { RunErrorCode } from './rules/outcomes.ts'
import type { UsageBasis } from './rules/usage.ts'
import type { TriggerDetail, WakeupSource } from './rules/wakeups.ts'
import type { Told } from './shapes/told.ts'
import type { RunEndState, RunState, WakeupState } from './states.ts'

/** Wakeups, runs, and what agents keep between runs, as every store holds them. */

/** A wakeup as it is shown. */
export interface Wakeup {
  id: string
  agent: string
  source: WakeupSource
  triggerDetail: TriggerDetail | null
  reason: string | null
  payload: unknown
  status: WakeupState
  skipReason: string | null
  coalescedCount: number
  intoId: string | null
  requestedBy: string
  taskId: string | null
  generation: number | null
  depth: number
  runId: string | null
  requestedAt: number
  dueAt: number
  claimedAt: number | null
  finishedAt: number | null
  error: string | null
}

export interface WakeupRecord extends Wakeup {
  idempotencyKey: string | null
  /** The internal id of its task; 0: it has none. */
  innerTaskId: number
  priority: number
  isContinuation: boolean
}

/** Only what is shown. */
export function shownWakeup(record: WakeupRecord): Wakeup {
  const {
    idempotencyKey: _key,
    innerTaskId: _task,
    priority: _priority,
    isContinuation: _is,
    ...shown
  } = record
  return shown
}

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

export interface RunRecord {
  id: string
  agent: string
  agentId: string
  adapterType: string
  wakeupId: string | null
  source: string
  triggerDetail: string | null
  reason: string | null
  /** How many runs, each of which woke the next, led to it. */
  depth: number
  status: RunState
  errorCode: string | null
  errorMessage: string | null
  taskId: string | null
  innerTaskId: number | null
  generation: number | null
  attempt: number | null
  session: string | null
  nodeId: string
  bootId: string | null
  pid: number | null
  pidStarted: string | null
  /** Only the hash is stored, and only while the run is live. */
  tokenHash: Uint8Array | null
  cancelReason: string | null
  exitCode: number | null
  signal: string | null
  inputTokens: number | null
  cachedInputTokens: number | null
  outputTokens: number | null
  /** A part of the output; null: not reported, as by most programs. */
  cachedOutputTokens: number | null
  /** Decimal dollars. */
  costUsd: string | null
  usageBasis: string | null
  /** How much of its usage the totals of its mission have. */
  bookedTokens: number
  bookedUsd: string | null
  /** They have counted it as a run. */
  isBooked: boolean
  provider: string | null
  model: string | null
  /** The last comments that its prompt contained: of its task, and of the mission. They are read when the run succeeds. */
  promptedTaskComment: number | null
  toldMissionComment: number | null
  /** Messages of an agent that may answer later; null: none are expected. */
  awaiting: Awaiting | null
  /** Its agent has accepted the work and answers by then: until then the run outlives its node. */
  answerDueAt: number | null
  sessionIdBefore: string | null
  sessionIdAfter: string | null
  statusMessage: string | null
  statusColor: string | null
  summary: string | null
  result: unknown
  folder: unknown
  stdoutExcerpt: string | null
  stderrExcerpt: string | null
  logStore: string | null
  logRef: string | null
  logBytes: number | null
  logSha256: string | null
  logCompressed: boolean
  logTruncated: boolean
  logGoneAt: number | null
  createdAt: number
  startedAt: number | null
  finishedAt: number | null
}

/** A run as people read it, and as its node monitors it. */
export type Run = Omit<RunRecord, 'depth' | 'tokenHash' | 'promptedTaskComment' | 'toldMissionComment'> & {
  workspaceId: number
}

/** A run that had a folder. */
export interface RunWork extends Pick<Run, 'id' | 'agent' | 'status' | 'nodeId' | 'folder' | 'finishedAt'> {
  generation: number
  /** The name of its node, if that is still known. */
  node: string | null
}

/** The state of an agent that is kept between runs. */
export interface RuntimeState {
  agent: string
  adapterType: string
  sessionId: string | null
  /** What its last run that said so keeps for the next, whatever its task. */
  state: unknown
  lastRunId: string | null
  lastRunStatus: string | null
  lastError: string | null
  runs: number
  totalInputTokens: number
  totalOutputTokens: number
  totalCachedInputTokens: number
  /** Decimal dollars. */
  totalCostUsd: string
  /** Of its runs, those whose cost is unknown. */
  unknownRuns: number
  lastStartedAt: number | null
  nextTimerAt: number | null
  parkedUntil: number | null
  updatedAt: number
}

/** The session of an agent's program for a task; '' is the key of runs without a task. */
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
