/** The numbers of the log: each event once, in order, none left out. */

/** Further behind than this, reading pages again is quicker than applying what was missed. */
const MOST_BEHIND = 5_000

interface Numbered {
  readonly seq: number
}

type Offer<E> =
  /** The events follow what was taken before. Those that were already taken are left out. */
  | { kind: 'next'; events: readonly E[] }
  /** At least one is missing before them: the log must be read after `after`. */
  | { kind: 'hole'; after: number }

export class Sequence {
  /** The number of the last event that was taken. */
  last: number
  /** Where the log ended when the server last reported it. */
  #saidHead = 0
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
   * The server says where its log ends. True: our events do not lead there. Another database, or one that was restored from an
   * earlier copy, has other events under our numbers. The first head of a socket comes before its events; later ones are read while
   * events are sent, which may overtake them: then only a head below the previous one means a shorter log.
   */
  mustResync(head: number, instance: string | null, isFirst: boolean): boolean {
    const isOther = this.#instance !== null && instance !== null && instance !== this.#instance
    const isShorter = head < (isFirst ? this.last : this.#saidHead)
    this.#instance = instance ?? this.#instance
    this.#saidHead = head
    return isOther || isShorter || head - this.last > MOST_BEHIND
  }

  beginAt(seq: number): void {
    this.last = seq
  }
}
