import type { FastifyRequest } from 'fastify'
import { type EventFilter, isIn } from '../../kinds/event-filter.ts'
import type { EventView } from '../../views/events/acts.ts'
import type { EventFeed, Stretch } from './feed.ts'
import type { Opening } from './opening.ts'

/** What readers of the log have in common, over whatever they read it. */

const HEARTBEAT_MS = 15_000
/** How often a reader learns how far the log was read for it while nothing of it is in its filter. */
const SENT_EVERY_MS = 1_000

/** A stream stays open until the client disconnects, the server stops or its key ends. */
export function lifeOf(opening: Opening, feed: EventFeed, heartbeat: () => void) {
  const timer = setInterval(heartbeat, HEARTBEAT_MS)
  const end = () => {
    clearInterval(timer)
    opening.end()
  }
  return { over: AbortSignal.any([opening.over, feed.closing]), end }
}

/** Readers get the event that ends their own key or run, and nothing after it. */
function untilEnd({ key, caller: { run } }: FastifyRequest, events: readonly EventView[]) {
  const end = events.findIndex(({ type, payload }) =>
    run
      ? type === 'run_finished' && payload.runId === run.runId
      : type === 'key_revoked' && payload.keyId === key!.keyId,
  )
  return end === -1 ? { said: events, isEnd: false } : { said: events.slice(0, end + 1), isEnd: true }
}

/**
 * How far the log was read for one reader. Without a filter its events say so, since no number is missing; with one it gets a message,
 * so that it can resume there and not read the same stretch again.
 */
export class Progress {
  readonly #filter: EventFilter | null
  #upTo: number
  #sentUpTo: number
  #sentAt = performance.now()

  constructor({ streamFilter, streamFrom }: FastifyRequest) {
    this.#filter = streamFilter
    this.#upTo = streamFrom
    this.#sentUpTo = streamFrom
  }

  /** What of a stretch of the log is sent: events, and how far it was read if that is sent now. */
  take(request: FastifyRequest, { events, upTo }: Stretch) {
    const { said, isEnd } = untilEnd(request, events)
    const filter = this.#filter
    const shown = filter ? said.filter((event) => isIn(filter, event)) : said
    this.#upTo = upTo
    const isDue = shown.length > 0 || performance.now() - this.#sentAt >= SENT_EVERY_MS
    return { shown, isEnd, upTo: isDue ? this.upToSend() : null }
  }

  /** How far the log was read, for the reader; null when the reader knows it already, from its events or an earlier number. */
  upToSend(): number | null {
    if (this.#filter === null || this.#sentUpTo === this.#upTo) return null
    this.#sentUpTo = this.#upTo
    this.#sentAt = performance.now()
    return this.#upTo
  }
}
