import type { LiveEvent } from './card.ts'

/** A mission that has ended is in the inbox, too, but waits for nothing. */
const isOfEnded = ({ id, item }: LiveEvent['payload']) =>
  String((item as { id?: unknown } | undefined)?.id ?? id).startsWith('finished:')

/** How many things wait for people: the badge that every page shows. */
export class InboxCount {
  #count: number
  #seq: number
  readonly #listeners = new Set<() => void>()

  constructor(count: number, seq: number) {
    this.#count = count
    this.#seq = seq
  }

  get = (): number => this.#count

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The count as it was read; events up to this number are in it. */
  set(count: number, seq: number): void {
    this.#seq = seq
    this.#change(count)
  }

  take({ seq, type, payload }: LiveEvent): void {
    if (seq <= this.#seq) return
    this.#seq = seq
    if (isOfEnded(payload)) return
    if (type === 'inbox_added') this.#change(this.#count + 1)
    if (type === 'inbox_closed') this.#change(Math.max(this.#count - 1, 0))
  }

  #change(count: number): void {
    this.#count = count
    for (const listener of [...this.#listeners]) listener()
  }
}
