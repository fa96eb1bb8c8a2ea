import { Refused } from '../pure/errors.ts'

const MINUTE_MS = 60_000
/** How many addresses are tracked; the least recently seen are evicted first. */
const MOST_ADDRESSES = 10_000

/** Limits requests with wrong keys: a token bucket per address. Valid keys are never limited. */
export class WrongKeys {
  readonly #aMinute: number
  /** When the bucket of each address is full again. */
  readonly #fullAt = new Map<string, number>()

  constructor(aMinute: number) {
    this.#aMinute = aMinute
  }

  /** Counts one more wrong key from this address. */
  count(address: string, now = performance.now()): void {
    const before = this.#fullAt.get(address) ?? 0
    const fullAt = Math.max(now, before) + MINUTE_MS / this.#aMinute
    const beyondMs = fullAt - now - MINUTE_MS
    // Rounding errors may add up to half a millisecond.
    const isTooMany = beyondMs > 0.5
    this.#fullAt.delete(address)
    this.#fullAt.set(address, isTooMany ? before : fullAt)
    if (this.#fullAt.size > MOST_ADDRESSES) this.#fullAt.delete(this.#fullAt.keys().next().value!)
    if (!isTooMany) return
    const retryAfterSeconds = Math.ceil(beyondMs / 1000)
    throw new Refused('TOO_MANY_WRONG_KEYS', 'Send a valid key, or wait.', { retryAfterSeconds })
  }

  get size(): number {
    return this.#fullAt.size
  }
}
