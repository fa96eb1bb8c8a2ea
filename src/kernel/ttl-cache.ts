/** A small cache with a time to live; the oldest entries are evicted first. Concurrent lookups of one name are shared. */
export class TtlCache<T> {
  readonly #keptForMs: number
  readonly #most: number
  readonly #known = new Map<string, { value: T; until: number }>()
  readonly #asked = new Map<string, Promise<T>>()

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
        if (this.#asked.get(name) === asked) this.set(name, value)
        return value
      })
      .finally(() => {
        if (this.#asked.get(name) === asked) this.#asked.delete(name)
      })
    this.#asked.set(name, asked)
    return asked
  }

  set(name: string, value: T): void {
    this.forget(name)
    this.#known.set(name, { value, until: performance.now() + this.#keptForMs })
    if (this.#known.size > this.#most) this.#known.delete(this.#known.keys().next().value!)
  }

  has(name: string): boolean {
    return (this.#known.get(name)?.until ?? 0) > performance.now()
  }

  forget(name: string): void {
    this.#known.delete(name)
    this.#asked.delete(name)
  }

  clear(): void {
    this.#known.clear()
    this.#asked.clear()
  }
}
