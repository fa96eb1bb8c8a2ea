import type { Follows } from './about.ts'
import type { LiveEvent } from './card.ts'
import type { Clock } from './clock.ts'
import type { LogReader } from './live.ts'
import { isRefused, isSignedOut } from './outcomes.ts'
import { Retry } from './retry.ts'

/** One answer of the server at its number, and the events after it. */

export interface Snapshot<T> {
  readonly body: T
  /** The event that it contains. */
  readonly seq: number
}

export interface SnapshotRules<T> {
  /** The value after an event. Pure; the same value when the event changes nothing. */
  apply?: ((value: T, event: LiveEvent) => T) | undefined
  /** Which events change something that they do not contain, so that the answer is read again. */
  follows?: Follows | undefined
}

/** The answer with the events after it. */
export function advanced<T>(
  snapshot: Snapshot<T>,
  events: readonly LiveEvent[],
  apply: SnapshotRules<T>['apply'],
): Snapshot<T> {
  let { body, seq } = snapshot
  for (const event of events) {
    if (event.seq <= seq) continue
    seq = event.seq
    if (apply) body = apply(body, event)
  }
  return seq === snapshot.seq ? snapshot : { body, seq }
}

/** A snapshot is read again this often at most. */
const REFETCH_EVERY_MS = 2_000

interface Handlers<T> {
  rules: () => SnapshotRules<T>
  current: () => Snapshot<T> | undefined
  set: (snapshot: Snapshot<T>) => void
  /** Whether its last read failed, so that there is nothing to change. */
  hasFailed: () => boolean
  /** Rejected when it failed. */
  refetch: () => Promise<unknown>
  /** Until then the answer is old: its read failed. Null: it is as new as its events. */
  late: (at: number | null) => void
}

/** Keeps one snapshot by the log: changes it once per slice of events, and has it read again where events do not say enough. */
export class SnapshotKeeper<T> implements LogReader {
  readonly #clock: Clock
  readonly #handlers: Handlers<T>
  #events: LiveEvent[] = []
  #refetchedAt = Number.NEGATIVE_INFINITY
  #timer: unknown = null
  readonly #retry: Retry
  /** Something happened to it before it was ever read. */
  #isMissed = false
  /** Raised with each read: the outcome of an earlier one no longer matters. */
  #turn = 0

  constructor(clock: Clock, handlers: Handlers<T>) {
    this.#clock = clock
    this.#handlers = handlers
    this.#retry = new Retry(clock, handlers.late)
  }

  event(event: LiveEvent): void {
    this.#events.push(event)
  }

  flush(): void {
    const events = this.#events
    this.#events = []
    const { rules, current, set } = this.#handlers
    const snapshot = current()
    const { apply, follows } = rules()
    if (!snapshot) {
      if (follows && events.some(follows)) this.#isMissed = true
      this.readAgainIfMissed()
      return
    }
    this.#isMissed = false
    const news = events.filter(({ seq }) => seq > snapshot.seq)
    if (news.length === 0) return
    const next = advanced(snapshot, news, apply)
    if (next.body !== snapshot.body) set(next)
    if (follows && news.some(follows)) this.#refetchSoon()
  }

  /** What could not be read may be there since: a refusal is asked again after an event that concerns it. */
  readAgainIfMissed(): void {
    if (!this.#isMissed || !this.#handlers.hasFailed()) return
    this.#isMissed = false
    this.#refetchSoon()
  }

  resync(): void {
    this.#events = []
    void this.#refetch()
  }

  close(): void {
    this.#turn += 1
    this.#clock.clearTimeout(this.#timer)
    this.#retry.done()
  }

  async #refetch(): Promise<void> {
    const turn = ++this.#turn
    this.#refetchedAt = this.#clock.now()
    let error: unknown = null
    try {
      await this.#handlers.refetch()
    } catch (reason) {
      error = reason
    }
    if (turn !== this.#turn) return
    // A refusal is an answer, and would be the same again.
    if (error === null || isRefused(error) || isSignedOut(error)) this.#retry.done()
    else this.#retry.failed(() => void this.#refetch())
  }

  #refetchSoon(): void {
    if (this.#timer !== null) return
    const waitMs = Math.max(0, this.#refetchedAt + REFETCH_EVERY_MS - this.#clock.now())
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = null
      void this.#refetch()
    }, waitMs)
  }
}
