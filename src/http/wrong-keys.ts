import { Refused } from '../core/errors.ts'

const MINUTE_MS = 60_000
/** Of so many addresses it is known how many wrong keys came from them; the longest quiet are forgotten first. */
const MOST_ADDRESSES = 10_000

/** How many requests with wrong keys an address may send: a token bucket for each. Right keys are never held up. */
export class WrongKeys {
  readonly #aMinute: number
  readonly #buckets = new Map<string, { left: number; at: number }>()

  constructor(aMinute: number) {
    this.#aMinute = aMinute
  }

  /** One more came from there. */
  count(address: string, now = performance.now()): void {
    const { left: before, at } = this.#buckets.get(address) ?? { left: this.#aMinute, at: now }
    const left = Math.min(this.#aMinute, before + ((now - at) / MINUTE_MS) * this.#aMinute)
    this.#buckets.delete(address)
    this.#buckets.set(address, { left: left < 1 ? left : left - 1, at: now })
    if (this.#buckets.size > MOST_ADDRESSES) this.#buckets.delete(this.#buckets.keys().next().value!)
    if (left >= 1) return
    const retryAfterSeconds = Math.ceil(((1 - left) * MINUTE_MS) / this.#aMinute / 1000)
    throw new Refused('TOO_MANY_WRONG_KEYS', 'Send a valid key, or wait.', { retryAfterSeconds })
  }

  get size(): number {
    return this.#buckets.size
  }
}
