import swagger from '@fastify/swagger'
import websocket from '@fastify/websocket'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Logger } from 'pino'
import type { Coordination } from '../door/coordination.ts'
import type { Door, NodeStart } from '../door/door.ts'
import type { Execution } from '../door/execution.ts'
import type { ServerKernel } from '../door/server-kernel.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { type Outgoing, USUAL_OUTGOING } from '../outgoing/outgoing.ts'
import { Refused } from '../pure/errors.ts'
import { ALL_ACTS } from './all-acts.ts'
import { type BodyLimits, installJsonParser, takeSigned } from './bodies.ts'
import { BodyPermits } from './body-permits.ts'
import {
  answerMalformed,
  CONNECTION_LIMITS,
  type ConnectionLimits,
  limitConnections,
  serverTimes,
} from './connections.ts'
import { serveAct } from './endpoint.ts'
import { type AllowedSources, installGate } from './gate.ts'
import { healthRoutes } from './health.ts'
import { KeyRing, keyIn } from './key-ring.ts'
import { streamRoutes } from './live/event-routes.ts'
import { GOING_AWAY } from './live/event-socket.ts'
import { EventFeed } from './live/feed.ts'
import { installLogHead } from './log-head.ts'
import { measureRequests, metricsRoute } from './metrics.ts'
import { takePlans } from './plan-bodies.ts'
import { onError } from './problems.ts'
import { ReceivedBodies } from './received-bodies.ts'
import { installSafeHeaders } from './safe-headers.ts'
import { documented } from './schema.ts'
import { browserSessionRoutes } from './sign-in.ts'
import { installTaskNames } from './task-names.ts'
import { compilers } from './validators.ts'
import { type BuiltWebApp, serveWebApp } from './web-app.ts'
import { WrongKeys } from './wrong-keys.ts'

export interface ServerOptions {
  kernel: ServerKernel
  coordinator: Coordination
  execution: Execution
  metrics: Metrics
  started: NodeStart
  /** How this node reaches programs outside. */
  outgoing?: Outgoing | undefined
  allowed: AllowedSources
  logger: Logger
  connections?: Partial<ConnectionLimits>
  /** Wrong keys per minute and address, and open streams per key. */
  bounds?: Partial<typeof USUAL_BOUNDS> | undefined
  /** Of Baton. */
  version: string
  /** The address that people use, if it is another than that of their request. */
  publicUrl?: string | undefined
  /** The page of a trace, with {traceId} in it. */
  traceUrl?: string | null | undefined
  webApp: BuiltWebApp
}

const USUAL_BOUNDS = { wrongKeysPerMinute: 50, streamsPerKey: 50 }

const PREFIX = '/api/v1'
/** How long active requests may take when the server stops. */
const GRACE_MS = 3_000

/** Of all servers of this process: they have the same routes and the same settings of validation. */
const COMPILERS = compilers()

export async function buildServer(options: ServerOptions): Promise<FastifyInstance> {
  const { kernel, coordinator, execution, metrics, started, allowed, logger } = options
  const { connections, bounds, version, publicUrl, traceUrl = null, webApp } = options
  const limits = { ...CONNECTION_LIMITS, ...connections }
  const app = Fastify({
    ...serverTimes(limits),
    loggerInstance: logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: 1024 * 1024,
    // "1" is not a number and 1 is not text: values of the wrong type are refused, never coerced.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, discriminator: true } },
    schemaController: { compilersFactory: COMPILERS },
    routerOptions: { maxParamLength: 300 },
    forceCloseConnections: 'idle',
    frameworkErrors: onError,
    clientErrorHandler: answerMalformed(limits),
  })
  limitConnections(app.server, limits.most, logger)
  installSafeHeaders(app)
  measureRequests(app, metrics)
  app.setErrorHandler(onError)
  const bodies = { received: new ReceivedBodies(), permits: new BodyPermits() }
  bodies.permits.install(app)
  installJsonParser(app, bodies)
  const { wrongKeysPerMinute, streamsPerKey } = { ...USUAL_BOUNDS, ...bounds }
  const keys = new KeyRing(kernel.store, streamsPerKey)
  const wrongKeys = new WrongKeys(wrongKeysPerMinute)
  installGate(app, allowed, keys, wrongKeys)
  installBodyHooks(app, execution)
  installTaskNames(app, kernel)
  installLogHead(app, kernel)
  await app.register(swagger, { openapi: OPENAPI, transform: documented })
  await registerSockets(app)
  const feed = new EventFeed(kernel)
  // Requests that wait for events or work would keep the server from closing.
  app.addHook('preClose', async () => {
    feed.close()
    keys.close()
    kernel.arrivals.close()
    kernel.changes.close()
    // Connections still open after that, with an incomplete request or none, are closed.
    setTimeout(() => app.server.closeAllConnections(), GRACE_MS).unref()
  })

  const { outgoing = USUAL_OUTGOING } = options
  const door = doorOf({ kernel, coordinator, execution, started, outgoing }, keys)
  await app.register(
    async (api) => {
      browserSessionRoutes(api, kernel, {
        ...{ keys, wrongKeys, publicUrl, server: { version, traceUrl } },
        loopback: allowed.insteadOfLocalhost,
      })
      streamRoutes(api, kernel, { feed, keys, live: execution.live })
      healthRoutes(api, kernel, coordinator)
      metricsRoute(api, metrics)
      await serveActs(api, door, { keys, wrongKeys }, bodies)
    },
    { prefix: PREFIX },
  )
  healthRoutes(app, kernel, coordinator)
  metricsRoute(app, metrics)
  app.get('/openapi.json', { config: { needs: 'nothing' }, schema: { hide: true } }, async () =>
    app.swagger(),
  )
  await serveWebApp(app, webApp, allowed.insteadOfLocalhost)
  return app
}

function installBodyHooks(app: FastifyInstance, execution: Execution): void {
  app.addHook('preHandler', (request, _reply, done) => {
    const { run, workspaceId } = request.caller ?? {}
    if (!run || !request.body) return done()
    // An agent may send secrets that it was given.
    execution.redact({ ...run, workspaceId }, keyIn(request)!, request.body).then((body) => {
      request.body = body
      done()
    }, done)
  })
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.body === undefined) request.body = request.routeOptions.config.emptyBody?.()
    done()
  })
}

async function registerSockets(app: FastifyInstance): Promise<void> {
  // Before the hook of the plugin, which closes them without saying why.
  app.addHook('preClose', async () => {
    for (const socket of app.websocketServer.clients) socket.close(GOING_AWAY)
  })
  await app.register(websocket, { options: { maxPayload: 64 * 1024 } })
}

type Parts = Pick<Door, 'kernel' | 'coordinator' | 'execution' | 'started' | 'outgoing'>

function doorOf(of: Parts, keys: KeyRing): Door {
  const shared = new Map<unknown, unknown>()
  return {
    ...of,
    revoked: (ids) => keys.revoked(ids),
    shared: <T>(made: new (kernel: ServerKernel) => T) => {
      if (!shared.has(made)) shared.set(made, new made(of.kernel))
      return shared.get(made) as T
    },
  }
}

/** Plans and signed bodies are served in scopes of their own, which leave them as they were sent. */
async function serveActs(
  api: FastifyInstance,
  door: Door,
  { keys, wrongKeys }: Guards,
  bodies: BodyLimits,
): Promise<void> {
  const ofPlans = ALL_ACTS.filter(({ endpoint }) => endpoint.takesPlan)
  const ofSigned = ALL_ACTS.filter(({ endpoint }) => endpoint.takesSigned)
  const others = ALL_ACTS.filter(({ endpoint }) => !endpoint.takesPlan && !endpoint.takesSigned)
  for (const act of others) serveAct(api, act, door, keys)
  await api.register(async (signed) => {
    takeSigned(signed, bodies)
    countWrongSignatures(signed, wrongKeys)
    for (const act of ofSigned) serveAct(signed, act, door, keys)
  })
  await api.register(async (plans) => {
    takePlans(plans, bodies)
    for (const act of ofPlans) serveAct(plans, act, door, keys)
  })
}

interface Guards {
  keys: KeyRing
  wrongKeys: WrongKeys
}

/** A wrong signature is a wrong key: whoever tries many is told to wait. */
function countWrongSignatures(app: FastifyInstance, wrongKeys: WrongKeys): void {
  app.setErrorHandler((error: Error, request, reply) => {
    try {
      if (error instanceof Refused && error.code === 'NOT_FOUND') wrongKeys.count(request.ip)
    } catch (tooMany) {
      return onError(tooMany as Refused, request, reply)
    }
    return onError(error, request, reply)
  })
}

const OPENAPI = {
  openapi: '3.1.0',
  info: {
    title: 'Baton',
    version: '1',
    description:
      'A durable control plane for fleets of AI agents. Errors are application/problem+json with a code.',
  },
  components: { securitySchemes: { key: { type: 'http' as const, scheme: 'bearer' } } },
  security: [{ key: [] }],
}
