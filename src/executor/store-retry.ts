import { StoreUnavailable } from '../kernel/store/store.ts'
import { sleep, type Timers } from './timers.ts'

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000
/** A node that shuts down does not wait forever: the next one recovers what it left. */
const RETRY_DURING_SHUTDOWN_MS = 5_000

/** Retries what the executor does while the database is unreachable. */
export class StoreRetry {
  readonly #timers: Timers
  readonly #shuttingDown = new AbortController()
  #shutdownAt = Number.POSITIVE_INFINITY

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** From now on retries end after a few seconds. */
  shutDown(): void {
    this.#shutdownAt = Math.min(this.#shutdownAt, this.#timers.now())
    this.#shuttingDown.abort()
  }

  /** Retries for as long as the database is unreachable: the result of a finished agent must not be lost for that. */
  async whileUnavailable<T>(act: () => Promise<T>): Promise<T> {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      try {
        return await act()
      } catch (error) {
        const isTooLate = this.#timers.now() > this.#shutdownAt + RETRY_DURING_SHUTDOWN_MS
        if (!(error instanceof StoreUnavailable) || isTooLate) throw error
      }
      const { signal } = this.#shuttingDown
      if (signal.aborted) await sleep(this.#timers, FIRST_WAIT_MS)
      else await sleep(this.#timers, waitMs, signal)
    }
  }
}
