import type { LiveEvent } from './card.ts'

/**
 * Events that arrive while something is read. The answer contains the log up to some number; what is in here after that number has to
 * be applied to it, in whatever order the answer and the events arrived.
 */

export interface Reading {
  /** The events after this number that arrived since the reading began. */
  after(seq: number): LiveEvent[]
  end(): void
}

export class RecentEvents {
  #kept: LiveEvent[] = []
  #readings = 0

  note(event: LiveEvent): void {
    if (this.#readings > 0) this.#kept.push(event)
  }

  begin(): Reading {
    this.#readings += 1
    let isOver = false
    return {
      after: (seq) => this.#kept.filter((event) => event.seq > seq),
      end: () => {
        if (isOver) return
        isOver = true
        this.#readings -= 1
        if (this.#readings === 0) this.#kept = []
      },
    }
  }

  /** The numbers start again: the kept events belong to another log. */
  forget(): void {
    this.#kept = []
  }
}
