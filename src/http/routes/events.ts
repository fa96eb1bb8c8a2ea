import { once } from 'node:events'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import type { Kernel } from '../../flow/kernel.ts'
import { eventView } from '../../flow/views.ts'
import type { EventFeed, EventView } from '../live/feed.ts'
import { Digits, numberOr, pageSize, route } from '../schema.ts'

const Query = z.strictObject({ after: Digits.optional(), limit: Digits.optional() })
const StreamQuery = z.strictObject({ after: Digits.optional() })
type Streaming = { Querystring: z.output<typeof StreamQuery> }

const BEAT_MS = 15_000
/** A reader this far behind is waited for; nothing is buffered for it beyond that. */
const MOST_UNSENT_BYTES = 1024 * 1024

export function eventRoutes(app: FastifyInstance, kernel: Kernel, feed: EventFeed): void {
  const tag = 'events'

  app.get<{ Querystring: z.output<typeof Query> }>(
    '/events',
    route({ summary: 'The log, in order', tag, needs: 'read', query: Query }),
    async ({ query, caller }) => {
      const limit = pageSize(query.limit)
      const events = await kernel.store.events(caller.workspaceId, numberOr(query.after, 0), limit)
      return {
        items: events.map(eventView),
        nextCursor: events.length === limit ? String(events.at(-1)!.seq) : null,
      }
    },
  )

  app.get<Streaming>(
    '/events/stream',
    route({
      summary: 'The log as server-sent events; resumes after Last-Event-ID',
      tag,
      needs: 'read',
      query: StreamQuery,
    }),
    async (request, reply) => {
      const after = startOf(request)
      reply.hijack()
      const { raw } = reply
      const gone = new AbortController()
      raw.once('close', () => gone.abort())
      raw.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      })
      raw.write(': baton\n\n')
      const beat = setInterval(() => raw.write(': beat\n\n'), BEAT_MS)
      try {
        for await (const page of feed.watch(request.caller.workspaceId, after, gone.signal)) {
          if (!raw.write(page.map(sseFrame).join(''))) await once(raw, 'drain', { signal: gone.signal })
        }
      } catch (error) {
        if (!gone.signal.aborted) request.log.warn({ err: error }, 'an event stream broke off')
      } finally {
        clearInterval(beat)
        raw.end()
      }
    },
  )

  app.get<Streaming>(
    '/events/ws',
    {
      ...route({
        summary: 'The log over a WebSocket, replayed after ?after=',
        tag,
        needs: 'read',
        query: StreamQuery,
      }),
      websocket: true,
    },
    (socket: WebSocket, request: FastifyRequest<Streaming>) => void serveSocket(socket, request, feed),
  )
}

const sseFrame = (event: EventView) =>
  `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

/** Where a reader left off: the header of a browser that reconnects, else the query, else now. */
function startOf(request: FastifyRequest<Streaming>): number | null {
  const given = request.headers['last-event-id'] ?? request.query.after
  if (given === undefined) return null
  if (typeof given !== 'string' || !/^\d{1,15}$/.test(given)) {
    throw Refused.field('VALIDATION_FAILED', 'Last-Event-ID', 'is not the id of an event')
  }
  return Number(given)
}

/** Frames hold as many events as there are: a thousand small frames cost a thousand times one. */
async function serveSocket(
  socket: WebSocket,
  request: FastifyRequest<Streaming>,
  feed: EventFeed,
): Promise<void> {
  const gone = new AbortController()
  socket.on('close', () => gone.abort())
  socket.on('error', () => gone.abort())
  // What clients say is not listened to, and must not pile up either.
  socket.on('message', () => undefined)
  let isAlive = true
  socket.on('pong', () => {
    isAlive = true
  })
  const beat = setInterval(() => {
    if (!isAlive) return socket.terminate()
    isAlive = false
    socket.ping()
  }, BEAT_MS)
  try {
    for await (const events of feed.watch(request.caller.workspaceId, startOf(request), gone.signal)) {
      await new Promise<void>((resolve) => socket.send(JSON.stringify({ events }), () => resolve()))
      while (socket.bufferedAmount > MOST_UNSENT_BYTES && !gone.signal.aborted)
        await new Promise((resolve) => setTimeout(resolve, 20))
    }
  } catch (error) {
    if (!gone.signal.aborted) request.log.warn({ err: error }, 'an event socket broke off')
  } finally {
    clearInterval(beat)
    socket.close(1001)
  }
}
