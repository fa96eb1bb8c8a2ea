import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import type { EventFilter } from '../../core/event-filter.ts'
import { Digits } from '../../core/shapes/common.ts'
import { EventFilterQuery, EventFrame, EventView } from '../../core/shapes/events.ts'
import { eventFilter } from '../../flow/event-filters.ts'
import type { LiveOutput } from '../../kernel/live-output.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { KeyRing } from '../key-ring.ts'
import { serveSocket } from '../live/event-socket.ts'
import { serveEvents } from '../live/event-stream.ts'
import type { EventFeed } from '../live/feed.ts'
import type { Opening } from '../live/opening.ts'
import { sendProblem } from '../problems.ts'
import { route } from '../schema.ts'
import { eventLists } from './event-lists.ts'

const StreamQuery = z.strictObject({ after: Digits.optional(), ...EventFilterQuery })
const SocketQuery = StreamQuery.extend({
  output: z
    .string()
    .regex(/^(all|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/)
    .optional()
    .describe('Live output of agents: of "all" runs, or of the run with this id'),
})
type Socketing = { Querystring: z.output<typeof SocketQuery> }
type Streaming = { Querystring: z.output<typeof StreamQuery> }

declare module 'fastify' {
  interface FastifyRequest {
    /** The event seq after which a stream begins. */
    streamFrom: number
    /** Which events it has; null: all. */
    streamFilter: EventFilter | null
  }
}

const TRY_AGAIN_LATER = 1013

interface Streams {
  feed: EventFeed
  keys: KeyRing
  live: LiveOutput
}

const tag = 'events'

export function eventRoutes(app: FastifyInstance, kernel: ServerKernel, streams: Streams): void {
  eventLists(app, kernel)
  streamRoutes(app, kernel, streams)
}

function streamRoutes(app: FastifyInstance, kernel: ServerKernel, { feed, keys, live }: Streams): void {
  // Read before the answer begins: "from now on" means from the request, however slow the database is.
  const begin = async (request: FastifyRequest<Streaming | Socketing>) => {
    keys.refuseIfFull(request)
    request.streamFilter = await eventFilter(kernel, request.caller, request.query)
    request.streamFrom = startOf(request) ?? (await kernel.store.lastSeq(request.caller.workspaceId))
  }
  app.decorateRequest('streamFrom', 0)
  app.decorateRequest('streamFilter', null)

  app.get<Streaming>(
    '/events/stream',
    {
      ...route({
        summary: 'Stream events as server-sent events; resumes after Last-Event-ID',
        tag,
        needs: 'read',
        query: StreamQuery,
        answer: EventView,
        mediaTypes: ['text/event-stream'],
      }),
      preHandler: begin,
    },
    async (request, reply) => {
      const opening = keys.open(request, true)
      reply.hijack()
      await serveEvents(reply.raw, request, opening, feed).finally(() => opening.close())
    },
  )

  app.route<Socketing>({
    method: 'GET',
    url: '/events/ws',
    ...route({
      summary:
        'Stream events over a WebSocket, from ?after= on; with ?output= also the live output of agents',
      description:
        'A client may send {"output":[run ids]}, {"output":"all"} or {"output":[]} to change whose output it gets.',
      tag,
      needs: 'read',
      query: SocketQuery,
      status: 101,
      answer: EventFrame,
    }),
    preHandler: begin,
    handler: (_request, reply) => sendProblem(reply, 'UPGRADE_REQUIRED', 'Open this as a WebSocket.'),
    wsHandler: async (socket, request) => {
      const opening = openSocket(keys, request, socket)
      if (!opening) return
      const { output } = request.query as Socketing['Querystring']
      const followed = output === undefined ? [] : output === 'all' ? output : [output]
      const served = serveSocket(socket, request, opening, { feed, live, followed })
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
