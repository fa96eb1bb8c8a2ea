import type { Logger } from 'pino'
import type { AdapterRegistry } from '../adapters/registry.ts'
import type { AgentPolicy } from '../core/agent-policy.ts'
import type { KnownSecrets } from '../core/redaction.ts'
import type { LiveOutput } from '../kernel/live-output.ts'
import type { RunKernel } from '../kernel/server-kernel.ts'
import type { LogStoreType, RunLogStore } from '../logs/protocol.ts'
import type { RunCallbacks } from './callbacks.ts'
import type { Environment } from './environment.ts'
import type { StoreRetry } from './store-retry.ts'
import type { Processes, Timers } from './timers.ts'

/** What a node needs to run agents. */
export interface ExecutorContext {
  kernel: RunKernel
  node: { id: string; name: string }
  registry: AdapterRegistry
  /** The store for new logs, and all stores that may hold older ones. */
  logs: RunLogStore
  logStores: ReadonlyMap<LogStoreType, RunLogStore>
  live: LiveOutput
  callbacks: RunCallbacks
  /** Secrets to redact, by run in progress on this node. */
  secrets: Map<string, KnownSecrets>
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
  log: Logger
}
