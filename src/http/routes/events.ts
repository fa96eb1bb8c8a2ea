import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import { type AnswerOf, type ListAnswer, listOf } from '../../core/shapes/common.ts'
import { EventFrame, EventView } from '../../core/shapes/events.ts'
import { eventViews } from '../../flow/event-views.ts'
import type { LiveOutput } from '../../kernel/live-output.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { KeyRing } from '../key-ring.ts'
import type { EventFeed } from '../live/feed.ts'
import type { Opening } from '../live/opening.ts'
import { sendProblem } from '../problems.ts'
import { SAFE_HEADERS } from '../safe-headers.ts'
import { Digits, numberOr, pageSize, route } from '../schema.ts'

const Query = z.strictObject({ after: Digits.optional(), limit: Digits.optional() })
const StreamQuery = z.strictObject({ after: Digits.optional() })
const SocketQuery = z.strictObject({
  after: Digits.optional(),
  output: z
    .string()
    .regex(/^(all|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/)
    .optional()
    .describe('Live output of agents: of "all" runs, or of the run with this id'),
})
type Socketing = { Querystring: z.output<typeof SocketQuery> }
type Shown = AnswerOf<typeof EventView>
type Streaming = { Querystring: z.output<typeof StreamQuery> }

declare module 'fastify' {
  interface FastifyRequest {
    /** The event seq after which a stream begins. */
    streamFrom: number
  }
}

const HEARTBEAT_MS = 15_000
const CLOSE_TIMEOUT_MS = 1_000
const TRY_AGAIN_LATER = 1013
/** Sending pauses for a reader this far behind; no more is buffered for it. */
const MOST_UNSENT_BYTES = 1024 * 1024

interface Streams {
  feed: EventFeed
  keys: KeyRing
  live: LiveOutput
}

const tag = 'events'

export function eventRoutes(app: FastifyInstance, kernel: ServerKernel, streams: Streams): void {
  app.get<{ Querystring: z.output<typeof Query> }>(
    '/events',
    route({
      summary: 'List events, oldest first',
      tag,
      needs: 'read',
      query: Query,
      answer: listOf(EventView),
    }),
    async ({ query, caller }): Promise<ListAnswer<Shown>> => {
      const limit = pageSize(query.limit)
      const events = await kernel.store.events(caller.workspaceId, numberOr(query.after, 0), limit)
      return {
        items: await eventViews(kernel, caller.workspaceId, events),
        nextCursor: events.length === limit ? String(events.at(-1)!.seq) : null,
      }
    },
  )

  streamRoutes(app, kernel, streams)
}

function streamRoutes(app: FastifyInstance, kernel: ServerKernel, { feed, keys, live }: Streams): void {
  // Read before the answer begins: "from now on" means from the request, however slow the database is.
  const begin = async (request: FastifyRequest<Streaming | Socketing>) => {
    keys.refuseIfFull(request)
    request.streamFrom = startOf(request) ?? (await kernel.store.lastSeq(request.caller.workspaceId))
  }
  app.decorateRequest('streamFrom', 0)

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
      const served = serveSocket(socket, request as FastifyRequest<Socketing>, opening, { feed, live })
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

/** A stream stays open until the client disconnects, the server stops or its key ends. */
function lifeOf(opening: Opening, feed: EventFeed, heartbeat: () => void) {
  const timer = setInterval(heartbeat, HEARTBEAT_MS)
  const end = () => {
    clearInterval(timer)
    opening.end()
  }
  return { over: AbortSignal.any([opening.over, feed.closing]), end }
}

async function serveEvents(
  raw: ServerResponse,
  request: FastifyRequest,
  opening: Opening,
  feed: EventFeed,
): Promise<void> {
  const { over, end } = lifeOf(opening, feed, () => raw.write(': heartbeat\n\n'))
  raw.once('close', end)
  // Disconnected before anything was sent: no close event will follow.
  if (raw.destroyed) end()
  raw.writeHead(200, {
    'content-type': 'text/event-stream',
    ...SAFE_HEADERS,
    'x-accel-buffering': 'no',
  })
  raw.write(': baton\n\n')
  try {
    for await (const page of feed.watch(request.caller.workspaceId, request.streamFrom, over)) {
      // The key may have ended since the page was read.
      if (over.aborted) break
      const { said, isEnd } = untilEnd(request, page)
      if (!raw.write(said.map(sseFrame).join(''))) await once(raw, 'drain', { signal: over })
      if (isEnd) break
    }
  } catch (error) {
    if (!over.aborted) request.log.warn({ err: error }, 'an event stream failed')
  } finally {
    end()
    raw.end()
    // A client that does not read would keep the connection open, and the server from closing.
    raw.socket?.destroySoon()
  }
}

/** Readers get the event that ends their own key or run, and nothing after it. */
function untilEnd({ key, caller: { run } }: FastifyRequest, events: readonly Shown[]) {
  const end = events.findIndex(({ type, payload }) =>
    run
      ? type === 'run_finished' && payload.runId === run.runId
      : type === 'key_revoked' && payload.keyId === key!.keyId,
  )
  return end === -1 ? { said: events, isEnd: false } : { said: events.slice(0, end + 1), isEnd: true }
}

const sseFrame = (event: Shown) =>
  `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

/** Where to resume: the header of a reconnecting browser, else the query, else now. */
function startOf(request: FastifyRequest<Streaming | Socketing>): number | null {
  const given = request.headers['last-event-id'] ?? request.query.after
  if (given === undefined) return null
  if (typeof given !== 'string' || !/^\d{1,15}$/.test(given)) {
    throw Refused.field('VALIDATION_FAILED', 'Last-Event-ID', 'is not the id of an event')
  }
  return Number(given)
}

/** A frame holds all events of a page: a thousand small frames cost a thousand times one. */
async function serveSocket(
  socket: WebSocket,
  request: FastifyRequest<Socketing>,
  opening: Opening,
  { feed, live }: Pick<Streams, 'feed' | 'live'>,
): Promise<void> {
  let isAlive = true
  const { over, end } = lifeOf(opening, feed, () => {
    if (!isAlive) return socket.terminate()
    isAlive = false
    socket.ping()
  })
  socket.on('pong', () => {
    isAlive = true
  })
  socket.on('close', end)
  socket.on('error', end)
  // Messages from clients are dropped, so that they do not pile up.
  socket.on('message', () => undefined)
  const stopWatching = sendOutput(socket, request, over, live)
  try {
    for await (const page of feed.watch(request.caller.workspaceId, request.streamFrom, over)) {
      // The key may have ended since the page was read.
      if (over.aborted) break
      const { said: events, isEnd } = untilEnd(request, page)
      socket.send(JSON.stringify({ events } satisfies AnswerOf<typeof EventFrame>))
      while (socket.bufferedAmount > MOST_UNSENT_BYTES && !over.aborted) await sleep(20)
      if (isEnd) break
    }
  } catch (error) {
    if (!over.aborted) request.log.warn({ err: error }, 'an event WebSocket failed')
  } finally {
    stopWatching()
    end()
    socket.close(1001)
    // Terminate a client that does not answer the close frame.
    setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref()
  }
}

/** Live output of agents. A slow reader misses chunks: it has the offset and can read the rest from the log. */
function sendOutput(
  socket: WebSocket,
  request: FastifyRequest<Socketing>,
  over: AbortSignal,
  live: LiveOutput,
): () => void {
  const wanted = request.query.output
  if (wanted === undefined) return () => undefined
  return live.onOutput(({ workspaceId, ...output }) => {
    if (
      over.aborted ||
      workspaceId !== request.caller.workspaceId ||
      (wanted !== 'all' && wanted !== output.runId)
    )
      return
    if (socket.bufferedAmount <= MOST_UNSENT_BYTES)
      socket.send(JSON.stringify({ output } satisfies AnswerOf<typeof EventFrame>))
  })
}
