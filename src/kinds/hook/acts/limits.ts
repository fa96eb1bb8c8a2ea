/** How much a hook may ask of this node. */

const MINUTE_MS = 60_000
/** Hooks are known for longer than a bucket needs to fill. */
const KNOWN = 10_000
/** Of deliveries that nobody can be held to: the log shows that there are some, and nobody can fill it. */
const REFUSALS_PER_MINUTE = 10

/** A bucket for each hook: as many at once as it may have in a minute, and as many again in each minute. */
class Buckets {
  /** When each is full again. */
  readonly #fullAt = new Map<string, number>()

  /** How long to wait; 0: it may. */
  take(hookId: string, perMinute: number, now: number): number {
    const fullAt = Math.max(now, this.#fullAt.get(hookId) ?? 0) + MINUTE_MS / perMinute
    const waitMs = fullAt - now - MINUTE_MS
    // Rounding errors may add up to half a millisecond.
    if (waitMs > 0.5) return waitMs
    this.#fullAt.delete(hookId)
    this.#fullAt.set(hookId, fullAt)
    if (this.#fullAt.size > KNOWN) this.#fullAt.delete(this.#fullAt.keys().next().value!)
    return 0
  }
}

export class HookLimits {
  readonly #deliveries = new Buckets()
  readonly #refusals = new Buckets()

  /** How many seconds to wait before the next delivery; 0: it may come now. */
  waitSeconds(hookId: string, perMinute: number): number {
    return Math.ceil(this.#deliveries.take(hookId, perMinute, performance.now()) / 1000)
  }

  /** Whether another refusal is written into the log. */
  mayNote(hookId: string): boolean {
    return this.#refusals.take(hookId, REFUSALS_PER_MINUTE, performance.now()) === 0
  }
}
