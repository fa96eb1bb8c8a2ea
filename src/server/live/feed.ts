import type { ServerKernel } from '../../door/server-kernel.ts'
import type { EventFilter } from '../../kinds/event-filter.ts'
import { type EventView, eventViews } from '../../views/events/acts.ts'
import { eventPage, onwardsFrom } from '../../views/events/postgres.ts'

/** Notifications of commits on other nodes may be lost, so each watched log is also polled this often. */
const POLL_MS = 2_000
const PAGE = 500
const KEPT = 2_000

/** A stretch of the log. */
export interface Stretch {
  /** All its events, or at least those that the reader's filter lets through. */
  events: readonly EventView[]
  upTo: number
}

/** The tail of one workspace's log, read once for all its watchers. */
interface Tail {
  /** -1: not known yet. */
  lastSeq: number
  /** The newest events, without gaps up to lastSeq. */
  kept: EventView[]
  watchers: number
  waiting: Set<() => void>
  reading: Promise<void> | null
  readAgain: boolean
}

/**
 * The event log as a stream. A commit is only a hint that there is more; events are always read from the log by seq, so
 * none is missed, duplicated or out of order, whichever node wrote it.
 */
export class EventFeed {
  readonly #kernel: ServerKernel
  readonly #tails = new Map<number, Tail>()
  readonly #stopListening: () => void
  readonly #timer: NodeJS.Timeout
  readonly #closing = new AbortController()
  /** Fires when the server stops: streams end then, even with unread events. */
  readonly closing = this.#closing.signal

  constructor(kernel: ServerKernel) {
    this.#kernel = kernel
    this.#stopListening = kernel.store.onCommit((workspaceId, { events }) => {
      if (events > 0) this.#read(workspaceId)
    })
    this.#timer = setInterval(() => {
      for (const workspaceId of this.#tails.keys()) this.#read(workspaceId)
    }, POLL_MS)
    this.#timer.unref()
  }

  /** The log after `after`, stretch by stretch, until `gone` fires. With a filter, what is far back is read only where it matches. */
  async *watch(
    workspaceId: number,
    after: number,
    gone: AbortSignal,
    filter: EventFilter | null = null,
  ): AsyncGenerator<Stretch> {
    const tail = await this.#join(workspaceId)
    const over = AbortSignal.any([gone, this.#closing.signal])
    let seen = after
    try {
      while (!over.aborted) {
        const stretch = await this.#after(workspaceId, tail, seen, filter)
        if (stretch.upTo > seen) {
          seen = stretch.upTo
          yield stretch
        } else {
          await this.#more(tail, seen, over)
        }
      }
    } finally {
      tail.watchers -= 1
      if (tail.watchers === 0) this.#tails.delete(workspaceId)
    }
  }

  close(): void {
    this.#stopListening()
    clearInterval(this.#timer)
    this.#closing.abort()
  }

  async #join(workspaceId: number): Promise<Tail> {
    let tail = this.#tails.get(workspaceId)
    if (!tail) {
      tail = { lastSeq: -1, kept: [], watchers: 0, waiting: new Set(), reading: null, readAgain: false }
      this.#tails.set(workspaceId, tail)
    }
    tail.watchers += 1
    if (tail.lastSeq === -1) {
      const lastSeq = await this.#kernel.store.lastSeq(workspaceId).catch((error) => {
        tail.watchers -= 1
        if (tail.watchers === 0) this.#tails.delete(workspaceId)
        throw error
      })
      // A concurrent read may have set a later value.
      if (tail.lastSeq === -1) tail.lastSeq = lastSeq
      this.#readIfAsked(workspaceId, tail)
    }
    return tail
  }

  async #after(workspaceId: number, tail: Tail, seen: number, filter: EventFilter | null): Promise<Stretch> {
    if (seen >= tail.lastSeq) return { events: [], upTo: seen }
    const first = tail.kept[0]?.seq ?? Number.POSITIVE_INFINITY
    if (seen + 1 >= first) {
      const events = tail.kept.slice(seen + 1 - first, seen + 1 - first + PAGE)
      return { events, upTo: events.at(-1)?.seq ?? seen }
    }
    const { store } = this.#kernel
    const { events, upTo } = filter
      ? await eventPage(store.readers, workspaceId, filter, onwardsFrom(seen), PAGE)
      : upToLast(await store.events(workspaceId, seen, PAGE), seen)
    return { events: await eventViews(this.#kernel, workspaceId, events), upTo }
  }

  #more(tail: Tail, seen: number, over: AbortSignal): Promise<void> {
    if (over.aborted || tail.lastSeq > seen) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        tail.waiting.delete(done)
        over.removeEventListener('abort', done)
        resolve()
      }
      over.addEventListener('abort', done)
      tail.waiting.add(done)
    })
  }

  /**
   * One read at a time; a hint during a read, or while the end of the log is read, causes one more, since the current read may
   * be too early for it.
   */
  #read(workspaceId: number): void {
    const tail = this.#tails.get(workspaceId)
    if (!tail) return
    if (tail.reading || tail.lastSeq === -1) {
      tail.readAgain = true
      return
    }
    tail.reading = this.#catchUp(workspaceId, tail)
      // The store is unreachable; the next hint or the timer retries.
      .catch(() => undefined)
      .finally(() => {
        tail.reading = null
        this.#readIfAsked(workspaceId, tail)
      })
  }

  #readIfAsked(workspaceId: number, tail: Tail): void {
    if (!tail.readAgain) return
    tail.readAgain = false
    this.#read(workspaceId)
  }

  async #catchUp(workspaceId: number, tail: Tail): Promise<void> {
    for (;;) {
      const found = await this.#kernel.store.events(workspaceId, tail.lastSeq, PAGE)
      if (found.length === 0) return
      const events = await eventViews(this.#kernel, workspaceId, found)
      tail.kept.push(...events)
      if (tail.kept.length > KEPT) tail.kept.splice(0, tail.kept.length - KEPT)
      tail.lastSeq = events.at(-1)!.seq
      for (const done of [...tail.waiting]) done()
      if (events.length < PAGE) return
    }
  }
}

const upToLast = <E extends { seq: number }>(events: E[], after: number) => ({
  events,
  upTo: events.at(-1)?.seq ?? after,
})
