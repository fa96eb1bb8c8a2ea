import type { AgentRecord } from '../core/records.ts'
import type { Delivery } from '../core/runs/callbacks.ts'
import type { Run } from '../core/runs/records.ts'
import type { CallbackMessage } from '../core/shapes/callbacks.ts'
import type { ChangesView } from '../core/shapes/changes.ts'
import type { AnswerOf } from '../core/shapes/common.ts'
import type { LiveOutput } from '../kernel/live-output.ts'

/** The executor as the API sees it. */

/** What a run and the others of its generation did to a repository. */
export type Changes = Omit<AnswerOf<typeof ChangesView>, 'runId'>

export interface LogRange {
  offset: number
  limitBytes: number
}

export interface LogPage {
  content: string
  /** Where the content begins: at the first whole character from the offset that was asked for. */
  offset: number
  /** The size of the log now. */
  bytes: number
  nextOffset: number | null
  spans: { offset: number; bytes: number; stream: string; ts: string }[]
}

export interface Check {
  name: string
  ok: boolean
  detail: string
  hint?: string
  isUnknown?: boolean
}

/** The program of an agent on this node, as it is without any settings. */
export interface FoundCli {
  adapterType: string
  command: string
  isFound: boolean
  version: string | null
  login: 'in' | 'out' | 'unknown' | null
  hint: string | null
}

/** An agent, or settings that belong to none yet. */
export type ProbedAgent = Pick<AgentRecord, 'adapterType' | 'adapterConfig'> & { slug: string | null }

interface AdapterInfo {
  type: string
  capabilities: Record<string, boolean>
  configSchema?: Record<string, unknown> | undefined
  /** Whether agents of the workspace may use this adapter on this node. */
  allowed: boolean
}

export interface Execution {
  readonly live: LiveOutput
  adapters(workspaceId: number): AdapterInfo[]
  /** Whether this node has the adapter, and so knows which of its settings are secret. */
  knows(adapterType: string): boolean
  /** Faults in the settings of an agent, one message each. */
  faultsOf(
    agent: Pick<AgentRecord, 'adapterType' | 'adapterConfig' | 'runtimeConfig'>,
  ): { field: string; message: string }[]
  /** The settings with a whole path where their folder is written with `~`; its fault, if that is no folder here. */
  withWholeFolder(
    agent: Pick<AgentRecord, 'adapterType' | 'adapterConfig'>,
  ): { ok: true; adapterConfig: AgentRecord['adapterConfig'] } | { ok: false; field: string; message: string }
  /** Why the policy of this node does not allow the agent, one message each, without the subject. */
  objectionsTo(
    workspaceId: number,
    agent: Pick<AgentRecord, 'adapterType' | 'adapterConfig'>,
  ): Promise<{ field: string; message: string }[]>
  /** Whether the agent could run on this node. */
  probe(workspaceId: number, agent: ProbedAgent): Promise<Check[]>
  /** The programs of these adapters, those that have one. */
  clis(adapterTypes: readonly string[]): Promise<FoundCli[]>
  /** The account that an agent uses: those with the same one share rate limits. Null: this node does not have its adapter. */
  accountOf(agent: AgentRecord): string | null
  /** The prompt of a run, with sensitive values removed. */
  preview(workspaceId: number, agent: AgentRecord): Promise<{ prompt: string; sensitive: string[] }>
  /** Null: the log was deleted, or cannot be read on this node. */
  readLog(run: Run, range: LogRange): Promise<LogPage | null>
  /** Refused where the repository is not. `path`: one of the files, with its diff. */
  changesOf(run: Run, path: string | null): Promise<Changes>
  /** What an agent sends with the token of its run, without the secrets it was given; whatever node has the run. */
  redact<T>(run: { workspaceId: number; runId: string; agent: string }, token: string, said: T): Promise<T>
  /** Delivers a message of an agent that answers asynchronously. */
  deliver(workspaceId: number, runId: string, message: CallbackMessage): Promise<Delivery>
}
