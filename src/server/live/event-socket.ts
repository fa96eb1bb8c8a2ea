import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import type { RawData, WebSocket } from 'ws'
import type { ServerStore } from '../../door/server-store.ts'
import {
  type Followed,
  type Follower,
  isFollowed,
  type LiveOutput,
  type OutputChunk,
} from '../../kernel/live-output.ts'
import { Refused } from '../../pure/errors.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { type EventFrame, FollowOutput } from '../../views/events/shapes.ts'
import type { EventFeed } from './feed.ts'
import type { Opening } from './opening.ts'
import { lifeOf, Progress } from './readers.ts'

/** The log, and the live output of agents, over a WebSocket. */

const CLOSE_TIMEOUT_MS = 1_000
/** The server stops, or the run of the reader has ended. */
export const GOING_AWAY = 1001
/** The key or the browser session is over: a client must sign in, not connect again. */
const SESSION_OVER = 4401
/** Sending pauses for a reader this far behind; no more is buffered for it. */
const MOST_UNSENT_BYTES = 1024 * 1024

interface Sources {
  feed: EventFeed
  store: ServerStore
  live: LiveOutput
  followed: Followed
}

const say = (socket: WebSocket, frame: AnswerOf<typeof EventFrame>) => socket.send(JSON.stringify(frame))

/** A frame holds all events of a page: a thousand small frames cost a thousand times one. */
export async function serveSocket(
  socket: WebSocket,
  request: FastifyRequest,
  opening: Opening,
  { feed, store, live, followed }: Sources,
): Promise<void> {
  const { caller, streamFrom, streamHead, streamFilter } = request
  const progress = new Progress(request)
  let isAlive = true
  // Read again each time: a number that is behind would look like a database that was restored.
  const sayHead = (head: number) => say(socket, { head, now: Date.now(), instance: store.instance })
  const { over, end } = lifeOf(opening, feed, () => {
    if (!isAlive) return socket.terminate()
    isAlive = false
    socket.ping()
    const upTo = progress.upToSend()
    if (upTo !== null) say(socket, { events: [], upTo })
    // If the database does not answer, the next heartbeat says it.
    store.lastSeq(caller.workspaceId).then(sayHead, () => undefined)
  })
  socket.on('pong', () => {
    isAlive = true
  })
  socket.on('close', end)
  socket.on('error', end)
  let sawItsEnd = false
  const follower = live.follow(caller.workspaceId, followed)
  const output = new OutputTo(socket, { workspaceId: caller.workspaceId, over, followed, follower })
  const stopWatching = live.onOutput((chunk) => output.take(chunk))
  socket.on('message', (data) => output.follow(data))
  try {
    sayHead(streamHead)
    for await (const stretch of feed.watch(caller.workspaceId, streamFrom, over, streamFilter)) {
      // The key may have ended since the stretch was read.
      if (over.aborted) break
      const { shown, isEnd, upTo } = progress.take(request, stretch)
      if (shown.length > 0 || upTo !== null) say(socket, { events: shown, upTo: upTo ?? shown.at(-1)!.seq })
      while (socket.bufferedAmount > MOST_UNSENT_BYTES && !over.aborted) await sleep(20)
      sawItsEnd = isEnd
      if (isEnd) break
    }
  } catch (error) {
    if (!over.aborted) request.log.warn({ err: error }, 'an event WebSocket failed')
  } finally {
    stopWatching()
    follower.close()
    const isOver = request.key !== null && (sawItsEnd || opening.over.reason instanceof Refused)
    end()
    socket.close(isOver ? SESSION_OVER : GOING_AWAY)
    // Terminate a client that does not answer the close frame.
    setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref()
  }
}

/** Live output of agents. A slow reader misses chunks: it has the offset and can read the rest from the log. */
class OutputTo {
  readonly #socket: WebSocket
  readonly #workspaceId: number
  readonly #over: AbortSignal
  readonly #follower: Follower
  #followed: Followed

  constructor(
    socket: WebSocket,
    options: { workspaceId: number; over: AbortSignal; followed: Followed; follower: Follower },
  ) {
    this.#socket = socket
    this.#workspaceId = options.workspaceId
    this.#over = options.over
    this.#follower = options.follower
    this.#followed = options.followed
  }

  take({ workspaceId, ...output }: OutputChunk): void {
    if (this.#over.aborted || workspaceId !== this.#workspaceId) return
    if (!isFollowed(this.#followed, output.runId)) return
    if (this.#socket.bufferedAmount <= MOST_UNSENT_BYTES) say(this.#socket, { output })
  }

  /** The client asks for the output of other runs. Whatever else it sends is dropped. */
  follow(data: RawData): void {
    const asked = asJson(data)
    if (this.#over.aborted || typeof asked !== 'object' || asked === null || !('output' in asked)) return
    const { success, data: wanted } = FollowOutput.safeParse(asked)
    if (success) {
      this.#followed = wanted.output
      this.#follower.change(wanted.output)
    }
    say(
      this.#socket,
      success
        ? { following: wanted.output }
        : { refused: '"output" must be "all" or a list of at most 16 ids of runs.' },
    )
  }
}

function asJson(data: RawData): unknown {
  try {
    return JSON.parse(String(data))
  } catch {
    return null
  }
}
