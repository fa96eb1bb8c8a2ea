import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { EventView } from '../../views/events/acts.ts'
import { SAFE_HEADERS } from '../safe-headers.ts'
import type { EventFeed } from './feed.ts'
import type { Opening } from './opening.ts'
import { lifeOf, Progress } from './readers.ts'

/** The log as server-sent events. */
export async function serveEvents(
  raw: ServerResponse,
  request: FastifyRequest,
  opening: Opening,
  feed: EventFeed,
): Promise<void> {
  const progress = new Progress(request)
  const { over, end } = lifeOf(opening, feed, () =>
    raw.write(lookedFrame(progress.upToSend()) || ': heartbeat\n\n'),
  )
  raw.once('close', end)
  // Disconnected before anything was sent: no close event will follow.
  if (raw.destroyed) end()
  raw.writeHead(200, {
    'content-type': 'text/event-stream',
    ...SAFE_HEADERS,
    'x-accel-buffering': 'no',
    // It is closed with the stream. A client that does not know that would send its next request on it, and lose it.
    connection: 'close',
  })
  raw.write(': baton\n\n')
  const { caller, streamFrom, streamFilter } = request
  try {
    for await (const stretch of feed.watch(caller.workspaceId, streamFrom, over, streamFilter)) {
      // The key may have ended since the stretch was read.
      if (over.aborted) break
      const { shown, isEnd, upTo } = progress.take(request, stretch)
      const text = shown.map(sseFrame).join('') + lookedFrame(upTo)
      if (text !== '' && !raw.write(text)) await once(raw, 'drain', { signal: over })
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

const sseFrame = (event: EventView) =>
  `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

/** A browser that reconnects resumes after its id. */
const lookedFrame = (upTo: number | null) =>
  upTo === null ? '' : `id: ${upTo}\nevent: looked\ndata: {"upTo":${upTo}}\n\n`
