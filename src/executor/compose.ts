import { join } from 'node:path'
import { claudeAdapter } from '../adapters/claude/adapter.ts'
import { codexAdapter } from '../adapters/codex/adapter.ts'
import { commandAdapter } from '../adapters/command.ts'
import { geminiAdapter } from '../adapters/gemini/adapter.ts'
import { httpAdapter } from '../adapters/http.ts'
import { opencodeAdapter } from '../adapters/opencode/adapter.ts'
import { processAdapter } from '../adapters/process.ts'
import { AdapterRegistry, loadAdapters } from '../adapters/registry.ts'
import { simulatedAdapter } from '../adapters/simulated.ts'
import type { ServerKernel } from '../door/server-kernel.ts'
import type { ServerStore } from '../door/server-store.ts'
import { LiveOutput } from '../kernel/live-output.ts'
import type { AgentPolicy } from '../kinds/agent/rules/allowed-on-node.ts'
import { RunLogRows } from '../kinds/run/postgres/run-logs.ts'
import { type LogLimits, USUAL_LIMITS } from '../logs/limits.ts'
import { localFileStore } from '../logs/local-file.ts'
import { type ObjectStore, objectStore } from '../logs/object-store.ts'
import { postgresStore } from '../logs/postgres.ts'
import type { LogStoreType, RunLogStore } from '../logs/protocol.ts'
import { s3Bucket } from '../logs/s3-bucket.ts'
import type { LogSettings } from '../logs/settings.ts'
import { StartRefused } from '../pure/refusal.ts'
import { LaterCallbacks, RunCallbacks } from './callbacks.ts'
import type { ExecutorContext } from './context.ts'
import { EXCERPT_BYTES } from './excerpt.ts'
import { NodeExecution } from './execution.ts'
import { gitOf } from './prepare.ts'
import { RequestsFile } from './requests-file.ts'
import { StoreRetry } from './store-retry.ts'
import { realProcesses, realTimers } from './timers.ts'
import { gitFolders } from './work/folders.ts'

/** All adapters: the built-in ones and those in third-party modules. Every adapter the policy names must exist. */
export async function composeAdapters(adapterPaths: readonly string[], { adapters }: AgentPolicy) {
  const callbacks = new LaterCallbacks()
  const registry = new AdapterRegistry()
  const builtIn = [
    claudeAdapter,
    codexAdapter,
    geminiAdapter,
    opencodeAdapter,
    processAdapter,
    commandAdapter,
    simulatedAdapter,
  ]
  for (const adapter of [...builtIn, httpAdapter(callbacks)]) registry.register(adapter)
  await loadAdapters(adapterPaths, registry)
  const unknown = adapters.find((type) => !['*', 'external'].includes(type) && !registry.get(type))
  if (unknown !== undefined)
    throw new StartRefused(`BATON_AGENT_ADAPTERS names "${unknown}", but there is no such adapter.`)
  return { registry, callbacks }
}

export interface ExecutorOptions {
  logs: LogSettings
  limits?: LogLimits
  /** Whether finished logs are compressed; those in Postgres are left to Postgres. */
  compress?: boolean
  excerptBytes?: number
  /** The folder of the database, if it is on this machine. */
  databaseFolder?: string | null
  kinds: Awaited<ReturnType<typeof composeAdapters>>
}

/** Builds everything a node needs to run agents. */
export async function composeExecutor(
  base: Pick<
    ExecutorContext,
    | 'kernel'
    | 'node'
    | 'own'
    | 'dataFolder'
    | 'agentRoots'
    | 'policy'
    | 'nodeSecrets'
    | 'baseUrl'
    | 'mostRuns'
    | 'log'
    | 'traces'
  > & { kernel: ServerKernel },
  settings: ExecutorOptions,
): Promise<{
  context: ExecutorContext
  execution: NodeExecution
  bucket: ObjectStore | null
  close: () => void
}> {
  const { logs } = settings
  const { registry, callbacks } = settings.kinds
  const { stores, bucket, close } = await openStores(base.kernel.store, base.dataFolder, settings)
  const storeRetry = new StoreRetry(realTimers)
  const runCallbacks = new RunCallbacks(base.kernel.store, {
    ...{ nodeId: base.node.id, timers: realTimers, storeRetry },
  })
  callbacks.connect(runCallbacks)
  const context = {
    ...base,
    registry,
    live: new LiveOutput(),
    callbacks: runCallbacks,
    secrets: new Map(),
    storeRetry,
    timers: realTimers,
    processes: realProcesses,
    folders: gitFolders(gitOf(base.own)),
    working: new Map(),
    requestsFile: () => RequestsFile.make(),
    excerptBytes: settings.excerptBytes ?? EXCERPT_BYTES,
    logs: stores.get(logs.store)!,
    logStores: stores,
  }
  const execution = new NodeExecution(context, base.kernel.store)
  const closeAll = () => {
    execution.close()
    close()
  }
  return { context, execution, bucket, close: closeAll }
}

/** New logs go to one store; logs from before a change of settings are read from the store they are in. */
async function openStores(
  store: ServerStore,
  dataFolder: string,
  { logs, limits = USUAL_LIMITS, compress = true, databaseFolder: folder = null }: ExecutorOptions,
) {
  const stores = new Map<LogStoreType, RunLogStore>([
    ['local_file', localFileStore(join(dataFolder, 'run-logs'), limits, compress)],
    ['postgres', postgresStore(new RunLogRows(store), { limits, folder })],
  ])
  if (logs.store !== 'object_store') return { stores, bucket: null, close: () => undefined }
  const spoolFolder = join(dataFolder, 'run-log-spool')
  const s3 = await s3Bucket(logs)
  const bucket = objectStore({ bucket: s3, spoolFolder, limits, compress })
  stores.set('object_store', bucket)
  return { stores, bucket, close: () => s3.close() }
}
