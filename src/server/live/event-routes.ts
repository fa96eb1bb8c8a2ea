import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { LiveOutput } from '../../kernel/live-output.ts'
import type { EventFilter } from '../../kinds/event-filter.ts'
import type { RouteOf } from '../../pure/endpoint.ts'
import { Refused } from '../../pure/errors.ts'
import { eventFilter } from '../../views/events/acts.ts'
import { openEventSocket, streamEvents } from '../../views/events/streams.ts'
import type { KeyRing } from '../key-ring.ts'
import { sendProblem } from '../problems.ts'
import { route } from '../schema.ts'
import { serveSocket } from './event-socket.ts'
import { serveEvents } from './event-stream.ts'
import type { EventFeed } from './feed.ts'
import type { Opening } from './opening.ts'

type Streaming = RouteOf<typeof streamEvents>
type Socketing = RouteOf<typeof openEventSocket>

declare module 'fastify' {
  interface FastifyRequest {
    /** The event seq after which a stream begins. */
    streamFrom: number
    /** The last event when it was asked for. */
    streamHead: number
    /** Which events it has; null: all. */
    streamFilter: EventFilter | null
  }
}

const TRY_AGAIN_LATER = 1013

export interface Streams {
  feed: EventFeed
  keys: KeyRing
  live: LiveOutput
}

export function streamRoutes(
  app: FastifyInstance,
  kernel: ServerKernel,
  { feed, keys, live }: Streams,
): void {
  // Read before the answer begins: "from now on" means from the request, however slow the database is.
  const begin = async (request: FastifyRequest<Streaming | Socketing>) => {
    keys.refuseIfFull(request)
    request.streamFilter = await eventFilter(kernel, request.caller, request.query)
    request.streamHead = await kernel.store.lastSeq(request.caller.workspaceId)
    request.streamFrom = startOf(request) ?? request.streamHead
  }
  app.decorateRequest('streamFrom', 0)
  app.decorateRequest('streamHead', 0)
  app.decorateRequest('streamFilter', null)

  app.get<Streaming>(
    streamEvents.path,
    {
      ...route(streamEvents),
      preHandler: begin,
    },
    async (request, reply) => {
      const opening = keys.open(request, true)
      reply.hijack()
      await serveEvents(reply.raw, request, opening, feed).finally(() => opening.close())
    },
  )

  app.route<Socketing>({
    method: openEventSocket.method,
    url: openEventSocket.path,
    ...route(openEventSocket),
    preHandler: begin,
    handler: (_request, reply) => sendProblem(reply, 'UPGRADE_REQUIRED', 'Open this as a WebSocket.'),
    wsHandler: async (socket, request) => {
      const opening = openSocket(keys, request, socket)
      if (!opening) return
      const { output } = request.query as Socketing['Querystring']
      const followed = output === undefined ? [] : output === 'all' ? output : [output]
      const served = serveSocket(socket, request, opening, { feed, store: kernel.store, live, followed })
      await served.finally(() => opening.close())
    },
  })
}

/** Other requests may have used up the limit since it was checked. */
function openSocket(keys: KeyRing, request: FastifyRequest, socket: WebSocket): Opening | null {
  try {
    return keys.open(request, true)
  } catch {
    socket.close(TRY_AGAIN_LATER)
    return null
  }
}

/** Where to resume: the header of a reconnecting browser, else the query, else now. */
function startOf(request: FastifyRequest<Streaming | Socketing>): number | null {
  const given = request.headers['last-event-id'] ?? request.query.after
  if (given === undefined) return null
  if (typeof given !== 'string' || !/^\d{1,15}$/.test(given)) {
    throw Refused.field('VALIDATION_FAILED', 'Last-Event-ID', 'is not the id of an event')
  }
  return Number(given)
}
