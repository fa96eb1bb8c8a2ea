import type { AgentRecord } from '../core/records.ts'
import type { HolderRequest } from '../core/replies.ts'
import type { CallbackMessage } from '../core/shapes/callbacks.ts'
import type { LiveOutput } from '../kernel/live-output.ts'
import type { Run } from '../store/server-store.ts'

/** What can be asked of those who run agents, from outside. */

export interface LogRange {
  offset: number
  limitBytes: number
}

interface LogPage {
  content: string
  nextOffset: number | null
  spans: { offset: number; bytes: number; stream: string; ts: string }[]
}

export interface Check {
  name: string
  ok: boolean
  detail: string
  hint?: string
}

interface AdapterInfo {
  type: string
  capabilities: Record<string, boolean>
  configSchema?: Record<string, unknown> | undefined
  /** Whether agents of the workspace may be of this kind on this node. */
  allowed: boolean
}

/** `unknown_run`: nobody here waits for it. `over`: its result came already. `busy`: it says too much at once. */
type Delivery = 'taken' | 'unknown_run' | 'over' | 'busy'

export interface Execution {
  readonly live: LiveOutput
  adapters(workspaceId: number): AdapterInfo[]
  /** Whether this node has the adapter, so that it can tell which of its settings are secret. */
  knows(adapterType: string): boolean
  /** What is wrong with the settings of an agent, a sentence each. */
  faultsOf(
    agent: Pick<AgentRecord, 'adapterType' | 'adapterConfig' | 'runtimeConfig'>,
  ): { field: string; message: string }[]
  /** Why the operator of this node would not have the agent run, a sentence each without its subject. */
  objectionsTo(
    workspaceId: number,
    agent: Pick<AgentRecord, 'adapterType' | 'adapterConfig'>,
  ): Promise<{ field: string; message: string }[]>
  /** Whether the agent could run on this node. */
  probe(workspaceId: number, agent: AgentRecord): Promise<Check[]>
  /** What a run's agent is told, without what nobody should see. */
  preview(workspaceId: number, agent: AgentRecord): Promise<{ prompt: string; sensitive: string[] }>
  /** Null: the log is gone, or cannot be read here. */
  readLog(run: Run, range: LogRange): Promise<LogPage | null>
  /** What an agent says of itself, without the secrets it was given. */
  redact<T>(runId: string, said: T): T
  /** What is asked of the agent of a run that is going on here. */
  requestsOf(runId: string): readonly HolderRequest[]
  /** What an agent that answers later says. */
  deliver(runId: string, message: CallbackMessage): Delivery
}
