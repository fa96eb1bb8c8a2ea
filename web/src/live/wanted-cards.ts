import { MOST_CARDS } from '../../../src/views/board/columns.ts'
import type { Clock } from './clock.ts'

/** Cards that have to be read, some at a time: events name more tasks than one request may ask for. */

const EVERY_MS = 100
const AFTER_FAILURE_MS = 2_000
/** Above this many it is quicker to read the board again. */
const MOST_WANTED = 500

interface Handlers {
  read: (ids: readonly string[]) => Promise<void>
  tooMany: () => void
}

export class WantedCards {
  readonly #clock: Clock
  readonly #handlers: Handlers
  readonly #ids = new Set<string>()
  #timer: unknown = null
  #isReading = false

  constructor(clock: Clock, handlers: Handlers) {
    this.#clock = clock
    this.#handlers = handlers
  }

  get size(): number {
    return this.#ids.size
  }

  want(id: string): void {
    this.#ids.add(id)
    if (this.#ids.size > MOST_WANTED) {
      this.#ids.clear()
      this.#handlers.tooMany()
    } else this.#schedule(EVERY_MS)
  }

  forget(id: string): void {
    this.#ids.delete(id)
  }

  clear(): void {
    this.#ids.clear()
    if (this.#timer !== null) this.#clock.clearTimeout(this.#timer)
    this.#timer = null
  }

  #schedule(afterMs: number): void {
    if (this.#timer !== null || this.#isReading || this.#ids.size === 0) return
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = null
      void this.#read()
    }, afterMs)
  }

  async #read(): Promise<void> {
    const ids = [...this.#ids].slice(0, MOST_CARDS)
    for (const id of ids) this.#ids.delete(id)
    this.#isReading = true
    let nextAfterMs = EVERY_MS
    try {
      await this.#handlers.read(ids)
    } catch {
      // Nothing is lost: the cards on the screen are as old as before, and are asked for again.
      for (const id of ids) this.#ids.add(id)
      nextAfterMs = AFTER_FAILURE_MS
    } finally {
      this.#isReading = false
    }
    this.#schedule(nextAfterMs)
  }
}
