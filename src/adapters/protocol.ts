import type { RunErrorCode } from '../core/runs/outcomes.ts'
import type { TokenUsage, UsageBasis } from '../core/runs/usage.ts'
import type { TriggerDetail, WakeupSource } from '../core/runs/wakeups.ts'

/**
 * agent-run/v1: what an adapter is. It is given a prompt, a folder and what was remembered of the last run, runs its agent, tells
 * on the way what happens, and answers with how it ended. It changes nothing of Baton's by itself.
 */

export const PROTOCOL_VERSION = 'agent-run/v1'

export type RunOutcome = 'succeeded' | 'failed' | 'cancelled' | 'timed_out'
export type StatusColor = 'neutral' | 'blue' | 'green' | 'yellow' | 'red'
export type LogStream = 'stdout' | 'stderr' | 'system'
export type { RunErrorCode, TokenUsage, TriggerDetail, UsageBasis, WakeupSource }

export interface AdapterInvokeInput {
  protocolVersion: typeof PROTOCOL_VERSION
  /** The workspace; agent-run/v1 calls it a company. */
  companyId: string
  agentId: string
  runId: string
  wakeupSource: WakeupSource
  triggerDetail?: TriggerDetail
  /** Absolute, and there. */
  cwd: string
  prompt: string
  adapterConfig: Record<string, unknown>
  /** What `runtimeStatePatch` of the runs before left, for this agent, adapter and task. */
  runtimeState: Record<string, unknown>
  /** The whole environment of the agent: nothing is inherited beside it. */
  env: Record<string, string>
  timeoutSec: number
  /** What the prompt is about, if it is about a task. */
  task?: { id: string; generation: number; attempt: number }
  /** For agents that answer later (202): where, and with which token. */
  callback?: { url: string; token: string }
}

/**
 * What happens on the way, beside status, log and usage. Anything else an adapter names is kept in the timeline of the run.
 */
export interface KnownEvents {
  /** Right after it was spawned; by these an orphan is known again. */
  process: { pid: number; startTime: string | null; bootId: string | null }
  /** As soon as it is known: a run that is lost later can be taken up again. */
  session: { sessionId: string }
  progress: { percent?: number; step?: string }
  checkpoint: { data: unknown }
  /** It used a tool. `signature` is the same for the same call. */
  call: { signature: string; isError?: boolean }
  /** It got on: a turn, a message, a finished step. Retries and heartbeats are none. */
  activity: Record<string, never>
  /** Nobody may be asked before `until` (ISO time), as the program said in a structured event. */
  rate_limit: { until: string | null }
}

export interface AdapterHooks {
  status?: (update: { message: string; color?: StatusColor }) => Promise<void>
  /** Resolves when it was taken: whoever waits for that does not fill the memory. */
  log?: (event: { stream: LogStream; chunk: string }) => Promise<void>
  /** What this run has used so far, all in all: the next replaces the last. */
  usage?: (usage: TokenUsage) => Promise<void>
  event?: (eventType: string, payload: Record<string, unknown>) => Promise<void>
}

export interface AdapterInvokeResult {
  outcome: RunOutcome
  exitCode: number | null
  signal?: string | null
  /** Why it did not succeed; without it, `nonzero_exit` or what the outcome says. */
  errorCode?: RunErrorCode | null
  errorMessage?: string | null
  summary?: string | null
  /** What it made: becomes the result of the task. */
  result?: unknown
  /** It ended well and wants to go on: the task is continued. */
  wantsMore?: boolean
  /** With `rate_limited`: when to come again (ISO time), if it is known. */
  retryAt?: string | null
  sessionId?: string | null
  usage?: TokenUsage | null
  usageBasis?: UsageBasis | null
  provider?: string | null
  model?: string | null
  /** Decimal dollars as text: exact. */
  costUsd?: number | string | null
  runtimeStatePatch?: Record<string, unknown>
  rawResult?: Record<string, unknown> | null
}

export type Validation = { ok: true } | { ok: false; errors: string[] }

/** One thing an environment probe looked at. */
export interface ProbeCheck {
  name: string
  ok: boolean
  detail: string
  /** What to do about it. */
  hint?: string
}

export interface ProbeInput {
  cwd: string | null
  adapterConfig: Record<string, unknown>
  env: Record<string, string>
}

export type ReadFromLog = Pick<
  AdapterInvokeResult,
  'usage' | 'usageBasis' | 'costUsd' | 'sessionId' | 'runtimeStatePatch' | 'model'
>

export interface AgentRunAdapter {
  type: string
  protocolVersion: typeof PROTOCOL_VERSION
  capabilities: {
    resumableSession: boolean
    statusUpdates: boolean
    logStreaming: boolean
    tokenUsage: boolean
  }
  /** Of its settings, as JSON Schema: for forms. */
  configSchema?: Record<string, unknown>
  /** Whether its agent works in a folder of this machine (it does unless this is false). */
  usesFolder?: boolean
  /** Names of variables, beside the usual ones, that its agent may have from Baton's own environment. `X_*` is a prefix. */
  inheritsEnv?: readonly string[]
  validateConfig(config: unknown): Validation
  invoke(input: AdapterInvokeInput, hooks: AdapterHooks, signal: AbortSignal): Promise<AdapterInvokeResult>
  /** Whose limits its runs share: the same text for agents on the same account. */
  credentialOf?(input: ProbeInput): string
  /** Whether it could run here: is its program there, which version, logged in. */
  probe?(input: ProbeInput, signal: AbortSignal): Promise<ProbeCheck[]>
  /** What the output so far tells of usage and session: for runs whose node was lost. Pure. */
  readLines?(lines: Iterable<string>, runtimeState: Record<string, unknown>): ReadFromLog
  /** The same of lines that come one by one: a log may be larger than the memory. Preferred where it is there. */
  readLineStream?(lines: AsyncIterable<string>, runtimeState: Record<string, unknown>): Promise<ReadFromLog>
}
