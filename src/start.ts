import { readFileSync } from 'node:fs'
import { access, constants, mkdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { bootId, isRoot, startTimeOf, thisMachine } from './adapters/child/identity.ts'
import type { Config } from './config.ts'
import type { ServerKernel } from './door/server-kernel.ts'
import { startEmbeddedPostgres } from './embedded-postgres/start.ts'
import { type ChorePace, Chores } from './executor/chores.ts'
import { composeAdapters, composeExecutor } from './executor/compose.ts'
import { Executor } from './executor/executor.ts'
import { recoverAtStart, recoverRuns } from './executor/recovery.ts'
import { secretsOfNode } from './executor/secrets.ts'
import { ensureOwnerKey, ownerKeyOf } from './first-start.ts'
import { systemCaller } from './kernel/caller.ts'
import { WARNING_AT_START } from './kinds/agent/rules/allowed-on-node.ts'
import { startDemo } from './kinds/demo/acts.ts'
import type { ApiKey } from './kinds/key/postgres.ts'
import { makeLink } from './kinds/sign-in/acts.ts'
import { hasBeenSignedInTo } from './kinds/sign-in/postgres.ts'
import { FIRST_WORKSPACE } from './kinds/workspace/postgres.ts'
import { USUAL_LIMITS } from './logs/limits.ts'
import { parseLogSettings } from './logs/settings.ts'
import type { Metrics } from './metrics/metrics.ts'
import { forWebhooks } from './outgoing/addresses.ts'
import type { Outgoing } from './outgoing/outgoing.ts'
import { refuseUnsafeData } from './private-files.ts'
import { StartRefused } from './pure/refusal.ts'
import { listen, probe } from './server/loopback.ts'
import { serveMetricsHere } from './server/metrics.ts'
import { buildServer, type ServerOptions } from './server/server.ts'
import { startCoordinator } from './start-coordinator.ts'
import { serverDirectory } from './store/directory.ts'
import { PostgresStore } from './store/store.ts'
import type { Traces } from './tracing/traces.ts'
import { Node } from './upkeep/node.ts'
import { openKernel } from './upkeep/open-kernel.ts'

const DAY_MS = 86_400_000

/** Compiled code is one folder deeper: dist/src, or dist/server as one file. */
const ROOT = new URL(/\/dist\/(src|server)\/[^/]+$/.test(import.meta.url) ? '../../' : '../', import.meta.url)
const VERSION = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')).version as string
const WEB_APP = { folder: fileURLToPath(new URL('dist/web', ROOT)) }

/** Stop functions, in the order in which the parts started. */
type Stops = (() => Promise<unknown>)[]

export interface Baton {
  url: string
  /** One line about an external database; null: the embedded one. */
  database: string | null
  /** Starts the demonstration in the first workspace. */
  demo(): Promise<void>
  /** A one-time link that signs in as the owner; null: the owner's key is not in the data folder. */
  signInLink(): Promise<string | null>
  /** Whether somebody has ever signed in to the first workspace. */
  hasBeenSignedInTo(): Promise<boolean>
  stop(): Promise<void>
}

/** Starts the parts in order. If one fails, stops those that started. Tests set another pace. */
export async function start(config: Config, pace: Partial<ChorePace> = {}): Promise<Baton> {
  const logger = pino(
    { level: config.logLevel, redact: ['req.headers.authorization', 'headers.authorization'] },
    pino.destination(2),
  )
  const stops: Stops = []
  const stop = async () => {
    for (const undo of stops.splice(0).reverse()) await undo()
  }
  let made: string | undefined
  try {
    await refuseTakenPort(config)
    const logs = parseLogSettings(config.logs)
    const kinds = await composeAdapters(config.adapterPaths, config.agentPolicy)
    made = await openDataFolder(config.dataFolder)
    const databaseUrl = config.databaseUrl ?? (await embedded(config, logger, stops))
    const store = await PostgresStore.open(databaseUrl, config.databaseRole)
    stops.push(() => store.close())
    logger.info({ from: 'postgres' }, store.found)
    await ensureOwnerKey(store, config.dataFolder)
    const kernel = openKernel(store, serverDirectory(store), (err, what) => logger.error({ err }, what))
    stops.push(() => kernel.close())
    const node = await startNode(config, store, stops)
    const traces = await openTraces(config, { store, node, logger }, stops)
    let url = ''
    const outgoing = outgoingOf(config, () => url)
    const { context, execution, bucket, close } = await composeExecutor(
      {
        ...{ kernel, node, dataFolder: config.dataFolder, agentRoots: config.agentRoots, log: logger },
        ...{
          ...{ own: config.environment, policy: config.agentPolicy },
          nodeSecrets: await secretsOfNode(config.dataFolder, databaseUrl, config.environment),
          ...{ mostRuns: config.mostRuns, traces, baseUrl: outgoing.appUrl },
        },
      },
      { logs, kinds, ...logSettingsOf(config) },
    )
    stops.push(async () => close())
    // Before any claim is possible: processes left over from an earlier run would work on the same tasks.
    await recoverAtStart(context, thisMachine())
    const runsActive = () => context.working.size
    const parts = { kernel, node, logger, outgoing, runsActive, version: VERSION }
    const { coordinator, metrics } = startCoordinator(config, parts, stops)
    url = await serve(config, { kernel, coordinator, execution, metrics, outgoing, logger }, stops)
    await metricsPort(config, metrics, stops)
    const keepLogsMs = config.keepLogsDays === null ? null : config.keepLogsDays * DAY_MS
    // Last to start and first to stop: agents need all the rest.
    const executor = new Executor(context).start()
    // What agents that answer later have to say is waited for again.
    await recoverRuns(context, thisMachine(), (run) => executor.adopt(run))
    const chored = { executor, host: thisMachine(), bucket, keepLogsMs, readers: store.readers, pace }
    const chores = new Chores(context, chored).start()
    stops.push(() => Promise.all([chores.stop(), executor.stop()]))
    // The coordinator stops first: tasks that stopping agents release are for the remaining nodes.
    stops.push(() => coordinator.stop())
    warnOfAgents(config, logger)
    const database = config.databaseUrl === null ? null : store.found
    const owner = await ownerKeyOf(store, config.dataFolder)
    return {
      ...{ url, database, stop },
      ...inFirstWorkspace(kernel, owner, config.publicUrl ?? reachable(url)),
    }
  } catch (error) {
    await stop()
    // A refused start leaves nothing behind; a folder with something in it stays.
    if (made) await rmdir(config.dataFolder).catch(() => undefined)
    throw error
  }
}

async function startNode(
  { nodeName: name, mostRuns }: Config,
  store: PostgresStore,
  stops: Stops,
): Promise<Node> {
  const node = await Node.start(store, {
    ...{ name, version: VERSION, mostRuns },
    ...{ host: thisMachine(), bootId: bootId(), pidStarted: startTimeOf(process.pid) },
  })
  stops.push(() => node.stop())
  return node
}

/** Last: what a refused start says is one sentence. */
function warnOfAgents({ mostRuns }: Config, logger: pino.Logger): void {
  if (mostRuns > 0) logger.warn(WARNING_AT_START[isRoot() ? 'root' : 'baton'])
}

/** What a start may do for the person who started it. */
const inFirstWorkspace = (
  kernel: ServerKernel,
  owner: ApiKey | null,
  baseUrl: string,
): Pick<Baton, 'demo' | 'signInLink' | 'hasBeenSignedInTo'> => ({
  async demo() {
    await startDemo(kernel, { ...systemCaller(FIRST_WORKSPACE), actor: 'demo' })
  },
  signInLink: async () =>
    owner && (await makeLink(kernel, systemCaller(FIRST_WORKSPACE), owner.keyId, baseUrl)).url,
  hasBeenSignedInTo: () => hasBeenSignedInTo(kernel.store.readers, FIRST_WORKSPACE),
})

/** Starts the HTTP server and returns its URL. */
async function serve(
  config: Config,
  parts: Pick<ServerOptions, 'kernel' | 'coordinator' | 'execution' | 'metrics' | 'outgoing' | 'logger'>,
  stops: Stops,
): Promise<string> {
  const allowed = { hosts: config.hosts, origins: config.origins, insteadOfLocalhost: loopbackOf(config) }
  const connections = { most: config.mostConnections }
  // From the begin of the process until it can be reached.
  let startMs: number | null = null
  const { dataFolder } = config
  const started = { isEmbedded: config.databaseUrl === null, startMs: () => startMs, dataFolder }
  const app = await buildServer({
    ...{ ...parts, started, allowed, connections, bounds: config },
    ...{ version: VERSION, publicUrl: config.publicUrl, traceUrl: config.traceUrl, webApp: WEB_APP },
  })
  let closeOther = async () => {}
  stops.push(async () => {
    // Connections whose last request ends during the close would stay open until their keep-alive timeout.
    const sweep = setInterval(() => app.server.closeIdleConnections(), 50)
    await Promise.all([app.close(), closeOther()]).finally(() => clearInterval(sweep))
  })
  const listening = await listen(app, config).catch((error) => {
    throw unusablePort(config, error)
  })
  closeOther = listening.closeOther
  startMs = Math.round(performance.now())
  return urlOf(config.host, listening)
}

/** Loaded only where a collector is set: a server without one has nothing of it. */
async function openTraces(
  { traceEndpoint: endpoint }: Config,
  { store, node, logger }: { store: PostgresStore; node: Node; logger: pino.Logger },
  stops: Stops,
): Promise<Traces | null> {
  if (endpoint === null) return null
  const { Traces } = await import('./tracing/traces.ts')
  const warn = (err: unknown, what: string) => logger.warn({ err }, what)
  const traces = new Traces({ store, endpoint, version: VERSION, node: node.name, warn })
  stops.push(() => traces.close())
  return traces
}

/** Serves metrics on a port of their own, if one is set. */
async function metricsPort({ metricsPort: port }: Config, metrics: Metrics, stops: Stops): Promise<void> {
  if (port === null) return
  const close = await serveMetricsHere(metrics, port).catch((error: ListenError) => {
    throw error.code === 'EADDRINUSE' || error.code === 'EACCES'
      ? new StartRefused(`Metrics cannot be served on port ${port} (${error.code}); set BATON_METRICS_PORT.`)
      : error
  })
  stops.push(close)
}

/**
 * The address that pages of "localhost" are sent to: that name is also ::1 or 127.0.0.1, where another program may listen. Null where
 * the operator chose another address, or that name.
 */
function loopbackOf({ host, publicUrl }: Config): string | null {
  if (publicUrl !== undefined && new URL(publicUrl).hostname === 'localhost') return null
  return host === '127.0.0.1' ? host : host === '::1' ? '[::1]' : null
}

const logSettingsOf = ({ maxLogBytes, minFreeBytes, databaseUrl, dataFolder, ...config }: Config) => ({
  compress: config.compressLogs,
  excerptBytes: config.excerptBytes,
  limits: { ...USUAL_LIMITS, maxBytes: maxLogBytes ?? Number.POSITIVE_INFINITY, minFreeBytes },
  databaseFolder: databaseUrl === null ? dataFolder : null,
})

const outgoingOf = ({ webhookAllow, publicUrl }: Config, url: () => string): Outgoing => ({
  ...{ rule: forWebhooks(webhookAllow), appUrl: () => publicUrl ?? reachable(url()) },
})

/** A server that listens on all addresses is reachable on this one. */
const reachable = (url: string) =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//127.0.0.1:')

const urlOf = (host: string, { port }: { port: number }) =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Returns the first folder it created, if any. */
async function openDataFolder(folder: string): Promise<string | undefined> {
  try {
    const made = await mkdir(folder, { recursive: true, mode: 0o700 })
    await refuseUnsafeData(folder)
    await access(folder, constants.W_OK)
    return made
  } catch (error) {
    if (error instanceof StartRefused) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new StartRefused(
      `The data folder ${folder} is not writable (${code}); set BATON_DATA to a writable folder.`,
    )
  }
}

async function embedded(config: Config, logger: pino.Logger, stops: Stops): Promise<string> {
  const postgres = await startEmbeddedPostgres({
    folder: join(config.dataFolder, 'postgres'),
    log: (line) => logger.info({ from: 'postgres' }, line),
  })
  stops.push(() => postgres.stop())
  return postgres.url
}

/** Checked before anything else: a second `npm start` must change nothing. */
async function refuseTakenPort(config: Config): Promise<void> {
  if (config.port === 0) return
  await probe(config).catch((error) => {
    throw unusablePort(config, error)
  })
}

function unusablePort({ host, otherHost, port }: Config, error: ListenError): Error {
  if (error.code === 'EADDRINUSE' && error.address === otherHost)
    return new StartRefused(
      `Port ${port} is in use on ${otherHost} by another program, which browsers would take for Baton at http://localhost:${port}; stop it or set BATON_PORT.`,
    )
  if (error.code === 'EADDRINUSE')
    return new StartRefused(`Port ${port} is in use by another program; stop it or set BATON_PORT.`)
  if (error.code === 'EACCES' || error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new StartRefused(`Baton cannot listen on ${host} port ${port} (${error.code}).`)
  return error
}

interface ListenError extends NodeJS.ErrnoException {
  address?: string
}
