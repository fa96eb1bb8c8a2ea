import { Refused } from '../core/errors.ts'

const MINUTE_MS = 60_000
/** Of so many addresses it is known how many wrong keys came from them; the longest quiet are forgotten first. */
const MOST_ADDRESSES = 10_000

/** How many requests with wrong keys an address may send: a token bucket for each. Right keys are never held up. */
export class WrongKeys {
  readonly #aMinute: number
  /** When the bucket of each address would be full again. */
  readonly #fullAt = new Map<string, number>()

  constructor(aMinute: number) {
    this.#aMinute = aMinute
  }

  /** One more came from there. */
  count(address: string, now = performance.now()): void {
    const before = this.#fullAt.get(address) ?? 0
    const fullAt = Math.max(now, before) + MINUTE_MS / this.#aMinute
    const beyondMs = fullAt - now - MINUTE_MS
    // Half a millisecond is what fractions may add up to.
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
