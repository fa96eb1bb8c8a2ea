import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import type { Kernel } from '../../flow/kernel.ts'
import { eventView } from '../../flow/views.ts'
import type { KeyRing } from '../gate.ts'
import type { EventFeed, EventView } from '../live/feed.ts'
import { sendProblem } from '../problems.ts'
import { Digits, numberOr, pageSize, route } from '../schema.ts'

const Query = z.strictObject({ after: Digits.optional(), limit: Digits.optional() })
const StreamQuery = z.strictObject({ after: Digits.optional() })
type Streaming = { Querystring: z.output<typeof StreamQuery> }

const BEAT_MS = 15_000
const FAREWELL_MS = 1_000
/** A reader this far behind is waited for; nothing is buffered for it beyond that. */
const MOST_UNSENT_BYTES = 1024 * 1024

export function eventRoutes(app: FastifyInstance, kernel: Kernel, feed: EventFeed, keys: KeyRing): void {
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
      const { over, end } = lifeOf(request, keys, feed, () => raw.write(': beat\n\n'))
      raw.once('close', end)
      raw.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      })
      raw.write(': baton\n\n')
      try {
        for await (const page of feed.watch(request.caller.workspaceId, after, over)) {
          if (!raw.write(page.map(sseFrame).join(''))) await once(raw, 'drain', { signal: over })
        }
      } catch (error) {
        if (!over.aborted) request.log.warn({ err: error }, 'an event stream broke off')
      } finally {
        end()
        raw.end()
        // A reader that does not read would keep the connection, and with it the server, open.
        raw.socket?.destroySoon()
      }
    },
  )

  app.route<Streaming>({
    method: 'GET',
    url: '/events/ws',
    ...route({
      summary: 'The log over a WebSocket, replayed after ?after=',
      tag,
      needs: 'read',
      query: StreamQuery,
    }),
    handler: (_request, reply) => sendProblem(reply, 'UPGRADE_REQUIRED', 'Open this as a WebSocket.'),
    wsHandler: (socket, request) =>
      void serveSocket(socket, request as FastifyRequest<Streaming>, feed, keys),
  })
}

/**
 * A stream lives until its reader leaves, the server stops or its key is no longer valid; the key is looked at with
 * every beat, and at once when a key was revoked here.
 */
function lifeOf(request: FastifyRequest, keys: KeyRing, feed: EventFeed, beat: () => void) {
  const ended = new AbortController()
  const look = async () => {
    if (!(await keys.stillAdmits(request).catch(() => true))) ended.abort()
  }
  const timer = setInterval(() => {
    beat()
    void look()
  }, BEAT_MS)
  const stopListening = keys.onRevoked(look)
  const end = () => {
    clearInterval(timer)
    stopListening()
    ended.abort()
  }
  return { over: AbortSignal.any([ended.signal, feed.closing]), end }
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
  keys: KeyRing,
): Promise<void> {
  let isAlive = true
  const { over, end } = lifeOf(request, keys, feed, () => {
    if (!isAlive) return socket.terminate()
    isAlive = false
    socket.ping()
  })
  socket.on('pong', () => {
    isAlive = true
  })
  socket.on('close', end)
  socket.on('error', end)
  // What clients say is not listened to, and must not pile up either.
  socket.on('message', () => undefined)
  try {
    for await (const events of feed.watch(request.caller.workspaceId, startOf(request), over)) {
      socket.send(JSON.stringify({ events }))
      while (socket.bufferedAmount > MOST_UNSENT_BYTES && !over.aborted) await sleep(20)
    }
  } catch (error) {
    if (!over.aborted) request.log.warn({ err: error }, 'an event socket broke off')
  } finally {
    end()
    socket.close(1001)
    // One that does not answer the farewell is cut off.
    setTimeout(() => socket.terminate(), FAREWELL_MS).unref()
  }
}
