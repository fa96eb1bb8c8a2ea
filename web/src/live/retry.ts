import type { Clock } from './clock.ts'

/** A failed read that is retried automatically, after a longer delay each time. */

const SHORTEST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 10_000

export class Retry {
  readonly #clock: Clock
  readonly #report: (at: number | null) => void
  #failures = 0
  #timer: unknown = null

  /** `report`: when it is tried again, by the clock of this machine; null: nothing is failing. */
  constructor(clock: Clock, report: (at: number | null) => void) {
    this.#clock = clock
    this.#report = report
  }

  failed(again: () => void): void {
    this.#clock.clearTimeout(this.#timer)
    const longest = Math.min(SHORTEST_WAIT_MS * 2 ** this.#failures, LONGEST_WAIT_MS)
    this.#failures += 1
    // The pages of a server that was busy do not all come back at the same moment.
    const waitMs = longest * (0.5 + this.#clock.random() / 2)
    this.#timer = this.#clock.setTimeout(again, waitMs)
    this.#report(this.#clock.now() + waitMs)
  }

  /** The read succeeded, or is no longer needed. */
  done(): void {
    this.#clock.clearTimeout(this.#timer)
    if (this.#failures > 0) this.#report(null)
    this.#failures = 0
  }
}
