import type { Logger } from 'pino'
import type { AdapterRegistry } from '../adapters/registry.ts'
import type { RunKernel } from '../door/server-kernel.ts'
import type { LiveOutput } from '../kernel/live-output.ts'
import type { AgentPolicy } from '../kinds/agent/rules/allowed-on-node.ts'
import type { LogStoreType, RunLogStore } from '../logs/protocol.ts'
import type { TracedRun } from '../pure/trace.ts'
import type { RunCallbacks } from './callbacks.ts'
import type { Environment } from './environment.ts'
import type { RequestsFile } from './requests-file.ts'
import type { RunSecrets } from './run-secrets.ts'
import type { StoreRetry } from './store-retry.ts'
import type { Processes, Timers } from './timers.ts'
import type { WorkFolders } from './work/folders.ts'
import type { WorkingRun } from './work/work-to-keep.ts'

/** Traces of runs, where a collector is set. */
interface RunTraces {
  /** The trace of a run, before it begins. */
  traceOf(workspaceId: number, runId: string, task: { id: number; uuid: string } | null): Promise<TracedRun>
  /** A call of a tool has ended. */
  toolCalled(
    run: TracedRun,
    call: { tool: string; isError: boolean; startedAt: number; endedAt: number },
  ): void
}

/** What a node needs to run agents. */
export interface ExecutorContext {
  kernel: RunKernel
  node: { id: string; name: string }
  registry: AdapterRegistry
  /** The store for new logs, and all stores that may hold older ones. */
  logs: RunLogStore
  logStores: ReadonlyMap<LogStoreType, RunLogStore>
  /** How much of each stream is stored in the row of its run. */
  excerptBytes: number
  live: LiveOutput
  callbacks: RunCallbacks
  /** Secrets to redact, by run in progress on this node. */
  secrets: Map<string, RunSecrets>
  /** Baton's own environment; agents inherit only the listed variables. */
  own: Environment
  dataFolder: string
  /** Which adapters and commands agents may use on this node. */
  policy: AgentPolicy
  /** Secrets to redact in every run of this node. */
  nodeSecrets: readonly string[]
  /** The folders agents may work in; empty: any folder their settings name. */
  agentRoots: readonly string[]
  /** The URL at which agents reach Baton. */
  baseUrl: () => string
  mostRuns: number
  storeRetry: StoreRetry
  timers: Timers
  processes: Processes
  folders: WorkFolders
  /** Where a program finds the requests to it. */
  requestsFile: () => Promise<RequestsFile | null>
  /** Runs in progress on this node, by id: what is needed to save their work. */
  working: Map<string, WorkingRun>
  log: Logger
  /** Null: nothing is traced. */
  traces: RunTraces | null
}
