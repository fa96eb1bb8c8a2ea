import type { Card } from './card.ts'
import type { Run } from './run-rules.ts'

/** Cards and runs are kept here once. Rows listen to one id, so that an event redraws only what it changed. */

export interface Kinds {
  card: Card
  run: Run
}
export type Kind = keyof Kinds
const KINDS: readonly Kind[] = ['card', 'run']

interface Entry<T> {
  value: T
  /** The event that it contains; those up to it change nothing. */
  seq: number
  /** The number of the answer that it comes from. */
  readAt: number
  /** The entity changed in a way that no event describes, and is read again as soon as it is on the screen. */
  isStale: boolean
}

type Listener = () => void
type OfKinds<T> = { [K in Kind]: T }
const forKinds = <T>(make: () => T): OfKinds<T> =>
  Object.fromEntries(KINDS.map((kind) => [kind, make()])) as OfKinds<T>

export class Entities {
  readonly #entries = forKinds(() => new Map<string, Entry<unknown>>())
  readonly #listeners = forKinds(() => new Map<string, Set<Listener>>())
  readonly #changed = new Set<Listener>()
  /** A stale entity came onto the screen. */
  onStaleShown: (kind: Kind, id: string) => void = () => undefined

  get<K extends Kind>(kind: K, id: string): Kinds[K] | undefined {
    return this.#entry(kind, id)?.value
  }

  seqOf(kind: Kind, id: string): number {
    return this.#entry(kind, id)?.seq ?? Number.NEGATIVE_INFINITY
  }

  idsOf(kind: Kind): Iterable<string> {
    return this.#entries[kind].keys()
  }

  sizeOf(kind: Kind): number {
    return this.#entries[kind].size
  }

  /**
   * As it was read at `seq`; events after that are applied to it again, since they may not contain everything. False: what is here was read
   * later.
   */
  put<K extends Kind>(kind: K, id: string, value: Kinds[K], seq: number): boolean {
    const entry = this.#entry(kind, id)
    if (entry && entry.readAt > seq) return false
    this.#entries[kind].set(id, { value, seq, readAt: seq, isStale: false })
    this.touch(kind, id)
    return true
  }

  /** An event with this number changes it, if it is known and does not contain the event. */
  change<K extends Kind>(kind: K, id: string, seq: number, rule: (value: Kinds[K]) => Kinds[K]): boolean {
    const entry = this.#entry(kind, id)
    if (!entry || entry.seq >= seq) return false
    const value = rule(entry.value)
    entry.seq = seq
    if (value !== entry.value) {
      entry.value = value
      this.touch(kind, id)
    }
    return true
  }

  remove(kind: Kind, id: string): void {
    if (this.#entries[kind].delete(id)) this.touch(kind, id)
  }

  /** Returns whether it is on the screen, so that it must be read now. */
  markStale(kind: Kind, id: string): boolean {
    const entry = this.#entry(kind, id)
    if (entry) entry.isStale = true
    return this.isShown(kind, id)
  }

  isStale(kind: Kind, id: string): boolean {
    return this.#entry(kind, id)?.isStale ?? false
  }

  /** The numbers of the log start again: values stay on the screen until they are read again. */
  forgetSeqs(): void {
    for (const kind of KINDS)
      for (const entry of this.#entries[kind].values()) {
        entry.seq = Number.NEGATIVE_INFINITY
        entry.readAt = Number.NEGATIVE_INFINITY
        entry.isStale = true
      }
  }

  isShown(kind: Kind, id: string): boolean {
    return this.#listeners[kind].has(id)
  }

  subscribe(kind: Kind, id: string, listener: Listener): () => void {
    const all = this.#listeners[kind]
    const ofId = all.get(id) ?? new Set()
    all.set(id, ofId.add(listener))
    if (this.#entry(kind, id)?.isStale) this.onStaleShown(kind, id)
    return () => {
      ofId.delete(listener)
      if (ofId.size === 0 && all.get(id) === ofId) all.delete(id)
    }
  }

  /** Listeners of the entity are called at the next flush. */
  touch(kind: Kind, id: string): void {
    for (const listener of this.#listeners[kind].get(id) ?? []) this.#changed.add(listener)
  }

  /** Once per slice of events: a row that ten events changed is drawn once. */
  flush(): void {
    const listeners = [...this.#changed]
    this.#changed.clear()
    for (const listener of listeners) listener()
  }

  #entry<K extends Kind>(kind: K, id: string): Entry<Kinds[K]> | undefined {
    return this.#entries[kind].get(id) as Entry<Kinds[K]> | undefined
  }
}
