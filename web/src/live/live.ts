import type { LiveEvent } from './card.ts'
import type { Clock } from './clock.ts'
import { EventQueue } from './event-queue.ts'
import type { HeadFrame } from './frames.ts'
import { FreshnessStore } from './freshness.ts'
import { InboxCount } from './inbox-count.ts'
import { Output } from './output.ts'
import { Sequence } from './sequence.ts'
import { EventSocket, type SocketRequests, type WebSocketLike } from './socket.ts'
import { World, type WorldRequests } from './world.ts'

/** A workspace, live: what is known of it, kept by its log. One for each page; switching the workspace creates another. */

/** Where the log was when the page began, as GET /session says. */
export interface Beginning {
  head: number
  instance: string | null
  inboxCount: number
}

export interface LiveRequests extends WorldRequests, Omit<SocketRequests, 'session'> {
  session: () => Promise<Beginning>
}

export interface LiveParts {
  requests: LiveRequests
  begin: Beginning
  open: (ticket: string, after: number) => WebSocketLike
  clock: Clock
  isOnline: () => boolean
  signedOut: () => void
}

/** Followers of the log other than the store. */
export interface LogReader {
  event: (event: LiveEvent) => void
  /** After each slice of events. */
  flush: () => void
  /** What is known cannot be continued: read it again. */
  resync: () => void
}

/** A delay up to this is not reported. */
const STILL_LIVE = 100

export class Live {
  readonly world: World
  readonly freshness = new FreshnessStore()
  readonly inboxCount: InboxCount
  readonly output: Output
  readonly #clock: Clock
  readonly #requests: LiveRequests
  readonly #sequence: Sequence
  readonly #queue: EventQueue<LiveEvent>
  readonly #socket: EventSocket
  readonly #readers = new Set<LogReader>()
  #head: number
  #lastAt: string | null = null

  constructor({ requests, begin, open, clock, isOnline, signedOut }: LiveParts) {
    this.#clock = clock
    this.#requests = requests
    this.#head = begin.head
    this.world = new World(requests, clock, (reader, at) => this.freshness.late(reader, at))
    this.inboxCount = new InboxCount(begin.inboxCount, begin.head)
    this.#sequence = new Sequence(begin.head, begin.instance)
    this.#queue = new EventQueue(clock, {
      apply: (event) => this.#apply(event),
      flush: () => this.#flush(),
      overflow: () => this.#resync(),
    })
    this.#socket = new EventSocket({
      ...{ clock, requests, open, isOnline, signedOut },
      last: () => this.#sequence.last,
      take: (events) => this.#take(events),
      head: (frame, isFirst) => this.#heard(frame, isFirst),
      output: (chunk) => this.output.take(chunk),
      freshness: (freshness) => this.freshness.set(freshness),
      now: () => this.now(),
    })
    this.output = new Output((runIds) => this.#socket.follow(runIds))
  }

  start(): void {
    this.#socket.start()
  }

  stop(): void {
    this.#socket.stop()
    this.#queue.clear()
    this.world.close()
  }

  /** The server's time. */
  now(): number {
    return this.#clock.now() + this.freshness.offsetMs
  }

  after(waitMs: number, run: () => void): void {
    this.#clock.setTimeout(run, waitMs)
  }

  follow(reader: LogReader): () => void {
    this.#readers.add(reader)
    return () => this.#readers.delete(reader)
  }

  online(isOnline: boolean): void {
    if (isOnline) this.#socket.online()
    else this.#socket.offline()
  }

  shown(isShown: boolean): void {
    this.#socket.shown(isShown)
  }

  /** The connection stays while the page is hidden: this tab tells of what waits. */
  staysWhileHidden(stays: boolean): void {
    this.#socket.staysWhileHidden(stays)
  }

  #take(events: readonly LiveEvent[]): void {
    const offered = this.#sequence.offer(events)
    if (offered.kind === 'hole') {
      this.#socket.restart()
      return
    }
    this.#head = Math.max(this.#head, this.#sequence.last)
    this.#queue.push(offered.events)
    this.#tellFreshness()
  }

  #heard({ head, now, instance }: HeadFrame, isFirst: boolean): void {
    this.freshness.heard(now, this.#clock.now())
    const mustResync = this.#sequence.mustResync(head, instance ?? null, isFirst)
    this.#head = mustResync ? head : Math.max(head, this.#sequence.last)
    if (mustResync) {
      this.#sequence.beginAt(head)
      this.#queue.clear()
      this.#resync()
      this.#socket.restart()
    }
    this.#tellFreshness()
  }

  #apply(event: LiveEvent): void {
    this.world.take(event)
    this.inboxCount.take(event)
    this.#lastAt = event.at
    for (const reader of this.#readers) reader.event(event)
  }

  #flush(): void {
    this.world.flush()
    for (const reader of this.#readers) reader.flush()
    if (this.#lastAt !== null) this.freshness.showed(Date.parse(this.#lastAt), this.#clock.now())
    this.#tellFreshness()
  }

  #resync(): void {
    this.world.resync()
    for (const reader of this.#readers) reader.resync()
    this.#requests.session().then(
      ({ inboxCount, head }) => this.inboxCount.set(inboxCount, head),
      // The badge stays as it was; the connection says what is wrong.
      () => undefined,
    )
  }

  #tellFreshness(): void {
    if (this.#socket.isPolling) return
    const behind = this.#head - this.#sequence.last + this.#queue.length
    this.freshness.set(behind > STILL_LIVE ? { kind: 'catching_up', behind } : { kind: 'live' })
  }
}
