/** The numbers of the log: each event once, in order, none left out. */

/** Further behind than this, reading pages again is quicker than applying what was missed. */
const MOST_BEHIND = 5_000

interface Numbered {
  readonly seq: number
}

type Offer<E> =
  /** They follow on what was taken before. Those that were taken already are left out. */
  | { kind: 'next'; events: readonly E[] }
  /** At least one is missing before them: the log must be read after `after`. */
  | { kind: 'hole'; after: number }

export class Sequence {
  /** The number of the last event that was taken. */
  last: number
  #instance: string | null

  constructor(last: number, instance: string | null = null) {
    this.last = last
    this.#instance = instance
  }

  offer<E extends Numbered>(events: readonly E[]): Offer<E> {
    const fresh = events.filter(({ seq }) => seq > this.last)
    let expected = this.last + 1
    for (const { seq } of fresh) {
      if (seq !== expected) return { kind: 'hole', after: this.last }
      expected += 1
    }
    this.last = expected - 1
    return { kind: 'next', events: fresh }
  }

  /**
   * The server says where its log ends. True: what we have does not lead there. Another database, or one that was restored from an
   * earlier copy, has other events under our numbers.
   */
  mustResync(head: number, instance: string | null): boolean {
    const isOther = this.#instance !== null && instance !== null && instance !== this.#instance
    this.#instance = instance ?? this.#instance
    return isOther || head < this.last || head - this.last > MOST_BEHIND
  }

  beginAt(seq: number): void {
    this.last = seq
  }
}
