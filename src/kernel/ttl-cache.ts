/** A small cache with a time to live; the oldest entries are evicted first. Concurrent lookups of one name are shared. */
export class TtlCache<T> {
  readonly #keptForMs: number
  readonly #most: number
  readonly #known = new Map<string, { value: T; until: number }>()
  readonly #asked = new Map<string, Promise<T>>()
  #invalidations = 0

  constructor(keptForMs: number, most: number) {
    this.#keptForMs = keptForMs
    this.#most = most
  }

  /** Synchronous when cached; a promise only for a lookup, so that a hit costs no event loop iteration. */
  get(name: string, lookUp: () => Promise<T>): T | Promise<T> {
    const known = this.#known.get(name)
    if (known && known.until > performance.now()) return known.value
    const waiting = this.#asked.get(name)
    if (waiting) return waiting
    const asked: Promise<T> = lookUp()
      .then((value) => {
        // Invalidated during the lookup: the value may be stale. Waiting callers get it, but it is not cached.
        if (this.#asked.get(name) === asked) this.#store(name, value)
        return value
      })
      .finally(() => {
        if (this.#asked.get(name) === asked) this.#asked.delete(name)
      })
    this.#asked.set(name, asked)
    return asked
  }

  /** How often something was set or forgotten: a value that was read before that may be stale. */
  get invalidations(): number {
    return this.#invalidations
  }

  /** Caches a value that was read at this count of invalidations, unless there were more since. */
  keep(name: string, value: T, invalidations: number): void {
    if (invalidations === this.#invalidations) this.#store(name, value)
  }

  set(name: string, value: T): void {
    this.forget(name)
    this.#store(name, value)
  }

  #store(name: string, value: T): void {
    // Deleted first, so that it moves to the end of the order in which entries are evicted.
    this.#known.delete(name)
    this.#known.set(name, { value, until: performance.now() + this.#keptForMs })
    if (this.#known.size > this.#most) this.#known.delete(this.#known.keys().next().value!)
  }

  /** Only if it is cached. */
  peek(name: string): T | undefined {
    const known = this.#known.get(name)
    return known && known.until > performance.now() ? known.value : undefined
  }

  forget(name: string): void {
    this.#invalidations += 1
    this.#known.delete(name)
    this.#asked.delete(name)
  }

  clear(): void {
    this.#invalidations += 1
    this.#known.clear()
    this.#asked.clear()
  }
}
