import type { Logger } from 'pino'
import type { AdapterRegistry } from '../adapters/registry.ts'
import type { AgentPolicy } from '../core/agent-policy.ts'
import type { KnownSecrets } from '../core/redaction.ts'
import type { HolderRequest } from '../core/replies.ts'
import type { LiveOutput } from '../kernel/live-output.ts'
import type { ServerKernel } from '../kernel/server-kernel.ts'
import type { LogStoreType, RunLogStore } from '../logs/protocol.ts'
import type { Environment } from './environment.ts'
import type { StoreRetry } from './store-retry.ts'

/** What a node needs to run agents. */
export interface ExecutorContext {
  kernel: ServerKernel
  node: { id: string; name: string }
  registry: AdapterRegistry
  /** Where new logs go, and where older ones may be. */
  logs: RunLogStore
  logStores: ReadonlyMap<LogStoreType, RunLogStore>
  live: LiveOutput
  /** What must not come out of the runs that are going on here. */
  secrets: Map<string, KnownSecrets>
  /** What is asked of the agents of those runs, as the last renewals of their claims told. */
  requests: Map<string, readonly HolderRequest[]>
  /** Baton's own environment; of it agents get what is listed. */
  own: Environment
  dataFolder: string
  /** What agents may be made of here. */
  policy: AgentPolicy
  /** What must not come out of any run of this node. */
  nodeSecrets: readonly string[]
  /** Where agents may work; empty: wherever their settings say. */
  agentRoots: readonly string[]
  /** Where agents reach Baton. */
  baseUrl: () => string
  mostRuns: number
  storeRetry: StoreRetry
  log: Logger
}
