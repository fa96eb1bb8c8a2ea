import swagger from '@fastify/swagger'
import websocket from '@fastify/websocket'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Logger } from 'pino'
import type { Coordination } from '../flow/coordination.ts'
import type { Execution } from '../flow/execution.ts'
import type { NodeStart } from '../flow/onboarding/onboarding.ts'
import type { ServerKernel } from '../kernel/server-kernel.ts'
import { type BodyLimits, installJsonParser } from './bodies.ts'
import { BodyPermits } from './body-permits.ts'
import {
  answerMalformed,
  CONNECTION_LIMITS,
  type ConnectionLimits,
  limitConnections,
  serverTimes,
} from './connections.ts'
import { type AllowedSources, installGate } from './gate.ts'
import { KeyRing, keyIn } from './key-ring.ts'
import { GOING_AWAY } from './live/event-socket.ts'
import { EventFeed } from './live/feed.ts'
import { installLogHead } from './log-head.ts'
import { onError } from './problems.ts'
import { ReceivedBodies } from './received-bodies.ts'
import { administrationRoutes } from './routes/administration.ts'
import { agentRoutes } from './routes/agents.ts'
import { boardRoutes } from './routes/board.ts'
import { changeRoutes } from './routes/changes.ts'
import { childRoutes } from './routes/children.ts'
import { claimRoutes } from './routes/claims.ts'
import { commentRoutes } from './routes/comments.ts'
import { coordinatorRoutes } from './routes/coordinator.ts'
import { deadLetterRoutes } from './routes/dead-letters.ts'
import { demoRoutes } from './routes/demo.ts'
import { dependencyRoutes } from './routes/dependencies.ts'
import { eventRoutes } from './routes/events.ts'
import { healthRoutes } from './routes/health.ts'
import { inboxRoutes } from './routes/inbox.ts'
import { insightRoutes } from './routes/insight.ts'
import { logRoutes } from './routes/logs.ts'
import { missionRoutes } from './routes/missions.ts'
import { onboardingRoutes } from './routes/onboarding.ts'
import { overviewRoutes } from './routes/overview.ts'
import { peopleRoutes } from './routes/people.ts'
import { planRoutes } from './routes/plans.ts'
import { projectRoutes } from './routes/projects.ts'
import { promptRoutes } from './routes/prompts.ts'
import { reportRoutes } from './routes/reports.ts'
import { resultRoutes } from './routes/results.ts'
import { routineRoutes } from './routes/routines.ts'
import { runLogRoutes } from './routes/run-logs.ts'
import { runRoutes } from './routes/runs.ts'
import { browserSessionRoutes } from './routes/session.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { taskRoutes } from './routes/tasks.ts'
import { workerRoutes } from './routes/workers.ts'
import { installSafeHeaders } from './safe-headers.ts'
import { documented } from './schema.ts'
import { installTaskNames } from './task-names.ts'
import { compilers } from './validators.ts'
import { type BuiltWebApp, serveWebApp } from './web-app.ts'
import { WrongKeys } from './wrong-keys.ts'

export interface ServerOptions {
  kernel: ServerKernel
  coordinator: Coordination
  execution: Execution
  started: NodeStart
  allowed: AllowedSources
  logger: Logger
  connections?: Partial<ConnectionLimits>
  /** Wrong keys per minute and address, and open streams per key. */
  bounds?: Partial<typeof USUAL_BOUNDS> | undefined
  /** Of Baton. */
  version: string
  /** The address that people use, if it is another than that of their request. */
  publicUrl?: string | undefined
  webApp: BuiltWebApp
}

const USUAL_BOUNDS = { wrongKeysPerMinute: 50, streamsPerKey: 50 }

const PREFIX = '/api/v1'
/** How long active requests may take when the server stops. */
const GRACE_MS = 3_000

export async function buildServer({
  kernel,
  coordinator,
  execution,
  started,
  allowed,
  logger,
  connections,
  bounds,
  version,
  publicUrl,
  webApp,
}: ServerOptions): Promise<FastifyInstance> {
  const limits = { ...CONNECTION_LIMITS, ...connections }
  const app = Fastify({
    ...serverTimes(limits),
    loggerInstance: logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: 1024 * 1024,
    // "1" is not a number and 1 is not text: values of the wrong type are refused, never coerced.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, discriminator: true } },
    schemaController: { compilersFactory: compilers() },
    routerOptions: { maxParamLength: 300 },
    forceCloseConnections: 'idle',
    frameworkErrors: onError,
    clientErrorHandler: answerMalformed(limits),
  })
  limitConnections(app.server, limits.most, logger)
  installSafeHeaders(app)
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

  await app.register(
    (api) => {
      browserSessionRoutes(api, kernel, {
        ...{ keys, wrongKeys, version, publicUrl },
        loopback: allowed.insteadOfLocalhost,
      })
      return routes(api, { kernel, coordinator, execution, started }, { feed, keys }, bodies)
    },
    { prefix: PREFIX },
  )
  healthRoutes(app, kernel, coordinator)
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
    if (request.body === undefined && request.routeOptions.config.bodyIsOptional) request.body = {}
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

async function routes(
  api: FastifyInstance,
  {
    kernel,
    coordinator,
    execution,
    started,
  }: Pick<ServerOptions, 'kernel' | 'coordinator' | 'execution' | 'started'>,
  streams: { feed: EventFeed; keys: KeyRing },
  bodies: BodyLimits,
): Promise<void> {
  taskRoutes(api, kernel, streams.keys)
  dependencyRoutes(api, kernel)
  claimRoutes(api, kernel, streams.keys, execution)
  resultRoutes(api, kernel)
  logRoutes(api, kernel)
  deadLetterRoutes(api, kernel)
  workerRoutes(api, kernel)
  agentRoutes(api, kernel, execution, streams.keys)
  runRoutes(api, kernel, execution)
  runLogRoutes(api, kernel, execution)
  changeRoutes(api, kernel, execution)
  promptRoutes(api)
  projectRoutes(api, kernel)
  missionRoutes(api, kernel)
  peopleRoutes(api, kernel)
  commentRoutes(api, kernel)
  reportRoutes(api, kernel)
  routineRoutes(api, kernel)
  childRoutes(api, kernel)
  boardRoutes(api, kernel)
  demoRoutes(api, kernel)
  inboxRoutes(api, kernel, execution)
  insightRoutes(api, kernel)
  overviewRoutes(api, kernel)
  onboardingRoutes(api, kernel, execution, started)
  await api.register(async (plans) => planRoutes(plans, kernel, bodies))
  sessionRoutes(api, kernel)
  eventRoutes(api, kernel, { ...streams, live: execution.live })
  administrationRoutes(api, kernel, streams.keys)
  coordinatorRoutes(api, kernel, coordinator)
  healthRoutes(api, kernel, coordinator)
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
