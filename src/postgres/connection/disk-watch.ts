import { StoreUnavailable } from '../../kernel/store/store.ts'

/** How long a refused write speaks for those after it, if none is tried. */
const KNOWN_FOR_MS = 10_000

interface Deciding {
  decide: (view: never) => { changes: { events: readonly unknown[] } }
}

/** Whether writes are refused because the disk of the database is full: reads go on then, and a ping finds nothing wrong. */
export class DiskWatch {
  #refused: { error: StoreUnavailable; at: number } | null = null

  /** A step that may write: one that writes and succeeds shows that there is room again. */
  async watching<S extends Deciding, T>(step: S, act: (step: S) => Promise<T>): Promise<T> {
    let hasWritten = false
    const decide: Deciding['decide'] = (view) => {
      const decision = step.decide(view)
      hasWritten = decision.changes.events.length > 0
      return decision
    }
    const write = act({ ...step, decide })
    try {
      const done = await write
      if (hasWritten) this.#refused = null
      return done
    } catch (error) {
      if (error instanceof StoreUnavailable && error.isDiskFull)
        this.#refused = { error, at: performance.now() }
      throw error
    }
  }

  throwIfFull(): void {
    if (this.#refused && performance.now() - this.#refused.at < KNOWN_FOR_MS) throw this.#refused.error
  }
}
