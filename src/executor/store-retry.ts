import { setTimeout as sleep } from 'node:timers/promises'
import { StoreUnavailable } from '../store/store.ts'

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 5_000
/** A node that is being stopped does not wait for ever: the next one finds what it left. */
const RETRY_WHEN_LEAVING_MS = 5_000

/** How long this node tries what the database does not take for now. */
export class StoreRetry {
  readonly #leaving = new AbortController()
  #leftAt = Number.POSITIVE_INFINITY

  /** From now on it is short. */
  leave(): void {
    this.#leftAt = Math.min(this.#leftAt, performance.now())
    this.#leaving.abort()
  }

  /** Does it again for as long as the database is away: an agent that has finished must not be forgotten for that. */
  async whileStoreIsAway<T>(act: () => Promise<T>): Promise<T> {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      try {
        return await act()
      } catch (error) {
        const isTooLate = performance.now() > this.#leftAt + RETRY_WHEN_LEAVING_MS
        if (!(error instanceof StoreUnavailable) || isTooLate) throw error
      }
      if (this.#leaving.signal.aborted) await sleep(FIRST_WAIT_MS)
      else await sleep(waitMs, undefined, { signal: this.#leaving.signal }).catch(() => undefined)
    }
  }
}
