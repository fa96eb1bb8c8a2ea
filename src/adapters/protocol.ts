import type { RunErrorCode } from '../kinds/run/rules/outcomes.ts'
import type { StatusColor } from '../kinds/run/rules/status-colors.ts'
import type { TokenUsage, UsageBasis } from '../kinds/run/rules/usage.ts'
import type { TriggerDetail, WakeupSource } from '../kinds/run/rules/wakeups.ts'

/**
 * agent-run/v1: the interface of an adapter. It gets a prompt, a folder and the stored state of the last run, runs its
 * agent, reports what happens meanwhile, and returns how the run ended. It does not change the state of Baton itself.
 */

export const PROTOCOL_VERSION = 'agent-run/v1'

export type RunOutcome = 'succeeded' | 'failed' | 'cancelled' | 'timed_out'
export type LogStream = 'stdout' | 'stderr' | 'system'
export type { RunErrorCode, StatusColor, TokenUsage, TriggerDetail, UsageBasis, WakeupSource }

export interface AdapterInvokeInput {
  protocolVersion: typeof PROTOCOL_VERSION
  /** The workspace; agent-run/v1 calls it a company. */
  companyId: string
  agentId: string
  runId: string
  wakeupSource: WakeupSource
  triggerDetail?: TriggerDetail
  /** Absolute, and it exists. */
  cwd: string
  prompt: string
  adapterConfig: Record<string, unknown>
  /** The merged `runtimeStatePatch` of earlier runs of this agent, adapter and task. */
  runtimeState: Record<string, unknown>
  /** The `agentState` that a run of this agent and adapter returned last, whatever its task. */
  agentState: Record<string, unknown>
  /** The whole environment of the agent: nothing else is inherited. */
  env: Record<string, string>
  timeoutSec: number
  /** The task of the run, if it has one. */
  task?: { id: string; generation: number; attempt: number }
  /** The model that the task asks for. Adapters with a setting `model` have it there, too. */
  model?: string
  /** Instructions for this task. Only adapters that declare it get it; for others it is at the head of the prompt. */
  systemPrompt?: string
  /** The tools that the task asks for, for adapters that declare it. */
  tools?: readonly string[]
  /** For agents that answer later (202): the URL and the token. */
  callback?: { url: string; token: string }
}

/**
 * Events during a run, besides status, log and usage. Any other event of an adapter is stored in the timeline of the run.
 */
export interface KnownEvents {
  /** Right after the spawn; identifies an orphaned process later. */
  process: { pid: number; startTime: string | null; bootId: string | null }
  /**
   * Right before its agent is called: the program that is started, or the request that is sent. Names of variables and headers,
   * never their values. It is kept as long as the log, redacted.
   */
  invocation:
    | { command: string; args: readonly string[]; env: readonly string[] }
    | { method: string; url: string; headers: readonly string[] }
  /** As soon as it is known, so that a lost run can be resumed. */
  session: { sessionId: string }
  progress: { percent?: number; step?: string }
  checkpoint: { data: unknown }
  /** It used a tool. Equal calls have equal signatures. */
  call: { signature: string; isError?: boolean }
  /** It made progress: a turn, a message, a finished step. Retries and heartbeats do not count. */
  activity: Record<string, never>
  /** A task for the mission of its task, as POST /tasks/:id/children takes it. */
  task: Record<string, unknown>
  /**
   * The agent has the work and answers by callbacks: the run no longer depends on a process of this node. `state` is passed to
   * `resume` on whatever node waits for the answer later.
   */
  accepted: { state: Record<string, unknown> }
  /** The model accepts no requests before `until` (ISO time), as reported by the program in a structured event. */
  rate_limit: { until: string | null }
}

export interface AdapterHooks {
  status?: (update: { message: string; color?: StatusColor }) => Promise<void>
  /** Resolves when the chunk was taken. Wait for it to limit memory. */
  log?: (event: { stream: LogStream; chunk: string }) => Promise<void>
  /** The total usage of this run so far: each call replaces the last. */
  usage?: (usage: TokenUsage) => Promise<void>
  event?: (eventType: string, payload: Record<string, unknown>) => Promise<void>
}

export interface AdapterInvokeResult {
  outcome: RunOutcome
  exitCode: number | null
  signal?: string | null
  /** Why it did not succeed; default: `nonzero_exit`, or the code of the outcome. */
  errorCode?: RunErrorCode | null
  errorMessage?: string | null
  summary?: string | null
  /** Becomes the result of the task. */
  result?: unknown
  /** It succeeded and wants to continue: the task is continued. */
  wantsMore?: boolean
  /** With `wantsMore`: not before these tasks have ended, by their ids, or by their tempIds if this run added them. */
  after?: readonly string[] | null
  /** It succeeded and asks a person: the task waits for the answer, and then continues. */
  question?: { question: string; options: readonly string[] } | null
  /** With `rate_limited`: when to retry (ISO time), if known. */
  retryAt?: string | null
  sessionId?: string | null
  usage?: TokenUsage | null
  usageBasis?: UsageBasis | null
  provider?: string | null
  model?: string | null
  /** Decimal dollars as text: exact. */
  costUsd?: number | string | null
  runtimeStatePatch?: Record<string, unknown>
  /** What the agent keeps for its next run, whatever its task, up to 32 KiB of JSON. It replaces what was kept before. */
  agentState?: Record<string, unknown>
  rawResult?: Record<string, unknown> | null
}

export type Validation = { ok: true } | { ok: false; errors: string[] }

/** One check of an environment probe. */
export interface ProbeCheck {
  name: string
  ok: boolean
  detail: string
  /** What to do about it. */
  hint?: string
  /** It could not be determined; then it is assumed to be true. */
  isUnknown?: boolean
}

export interface ProbeInput {
  cwd: string | null
  adapterConfig: Record<string, unknown>
  env: Record<string, string>
}

export type ReadFromLog = Pick<
  AdapterInvokeResult,
  'usage' | 'usageBasis' | 'costUsd' | 'sessionId' | 'runtimeStatePatch' | 'agentState' | 'model'
>

export interface RunPlace {
  cwd: string
  env: Record<string, string>
}

/** What is known of a run that another node began. */
export interface BeforeResume {
  /** As reported by `accepted`; null: the node was lost before that. */
  state: Record<string, unknown> | null
  usage: TokenUsage | null
  sessionId: string | null
}

export interface AgentRunAdapter {
  type: string
  protocolVersion: typeof PROTOCOL_VERSION
  capabilities: {
    resumableSession: boolean
    statusUpdates: boolean
    logStreaming: boolean
    tokenUsage: boolean
  }
  /** What it takes of a task beside the prompt. */
  takes?: readonly ('systemPrompt' | 'tools')[]
  /** JSON Schema of its settings, for forms. */
  configSchema?: Record<string, unknown>
  /**
   * The variables with which its program uses a key, or an account, that is billed by the token. If it has a list and a run has none of
   * them, and `loginHasKey` finds no key either, a subscription covers the run. Without a list, every run is billed.
   */
  keyVariables?: readonly string[]
  /** Whether the login file of its program, as JSON, holds such a key. */
  loginHasKey?(login: unknown): boolean
  /** Whether its agent works in a folder of this machine (default true). */
  usesFolder?: boolean
  /** Further variables that its agent inherits from Baton's own environment, besides the common ones. `X_*` is a prefix. */
  inheritsEnv?: readonly string[]
  /** The files in which its program keeps its login, with this environment. The tokens in them are redacted. */
  loginFiles?(env: Record<string, string>): readonly string[]
  validateConfig(config: unknown): Validation
  invoke(input: AdapterInvokeInput, hooks: AdapterHooks, signal: AbortSignal): Promise<AdapterInvokeResult>
  /**
   * Waits for an agent that has `accepted` its work, after the node that began the run was lost. `timeoutSec` is the time that is
   * left.
   */
  resume?(
    input: AdapterInvokeInput,
    hooks: AdapterHooks,
    signal: AbortSignal,
    before: BeforeResume,
  ): Promise<AdapterInvokeResult>
  /** Identifies the account: agents with the same text share rate limits. */
  credentialOf?(input: ProbeInput): string
  /** Whether it could run here: whether its program exists, its version, whether it is logged in. */
  probe?(input: ProbeInput, signal: AbortSignal): Promise<ProbeCheck[]>
  /** Usage and session from the output so far, for runs whose node was lost. Pure. */
  readLines?(lines: Iterable<string>, runtimeState: Record<string, unknown>): ReadFromLog
  /**
   * The same for a stream of lines: a log may be larger than memory. Preferred over `readLines`. With the place where the run was, if
   * that was on this machine, it may read what its program wrote there, too.
   */
  readLineStream?(
    lines: AsyncIterable<string>,
    runtimeState: Record<string, unknown>,
    at?: RunPlace,
  ): Promise<ReadFromLog>
}
