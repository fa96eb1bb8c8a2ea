import type { Clock } from './clock.ts'

/** Events between their arrival and the screen. They are applied in short slices, so that the page stays responsive. */

const LONGEST_SLICE_MS = 8
/** More than this many are not applied one by one: pages are read again instead. */
export const MOST_QUEUED = 10_000

interface Handlers<E> {
  apply: (event: E) => void
  /** After each slice. */
  flush: () => void
  overflow: () => void
}

export class EventQueue<E> {
  readonly #clock: Clock
  readonly #handlers: Handlers<E>
  #events: E[] = []
  #next = 0
  #timer: unknown = null

  constructor(clock: Clock, handlers: Handlers<E>) {
    this.#clock = clock
    this.#handlers = handlers
  }

  get length(): number {
    return this.#events.length - this.#next
  }

  push(events: readonly E[]): void {
    if (this.length + events.length > MOST_QUEUED) {
      this.clear()
      this.#handlers.overflow()
      return
    }
    for (const event of events) this.#events.push(event)
    this.#schedule()
  }

  clear(): void {
    this.#events = []
    this.#next = 0
  }

  // A timer, not an animation frame: hidden tabs keep up.
  #schedule(): void {
    if (this.#timer !== null || this.length === 0) return
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = null
      this.#slice()
      this.#schedule()
    }, 0)
  }

  #slice(): void {
    const end = this.#clock.now() + LONGEST_SLICE_MS
    while (this.#next < this.#events.length) {
      this.#handlers.apply(this.#events[this.#next++]!)
      if (this.#clock.now() >= end) break
    }
    if (this.length === 0) this.clear()
    this.#handlers.flush()
  }
}
