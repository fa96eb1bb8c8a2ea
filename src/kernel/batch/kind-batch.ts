import { KINDS, NO_CHANGES } from '../../kinds/all.ts'
import type {
  Kind,
  KindChanges,
  KindDecision,
  KindName,
  KindShape,
  KindTypes,
  KindView,
  KindViews,
  Seen,
} from '../../kinds/kind.ts'

/** What a batch keeps beside the records of a kind. */
interface Follower<R> {
  current: (record: R) => R
  decided: (record: R) => void
}

/** The records of one kind in a batch: as they were read, with the changes so far. */
export class KindBatch<T extends KindShape> {
  readonly kind: Kind<T>
  /** Null: removed. */
  readonly changed = new Map<string, T['record'] | null>()
  readonly #view: KindView<T>
  #countedDelta = 0
  #follower: Follower<T['record']> | undefined

  constructor(kind: Kind<T>, view: KindView<T>) {
    this.kind = kind
    this.#view = view
  }

  /** How many count against the limit of the workspace by now. */
  get counted(): number {
    return this.#view.counted + this.#countedDelta
  }

  seen = (key: string): Seen<T> | undefined => this.#view.seen.get(key)

  allSeen = (): Iterable<Seen<T>> => this.#view.seen.values()

  /** All that were read, and those that are new, as this batch has left them. */
  all = (): T['record'][] =>
    [...new Set([...this.#view.seen.keys(), ...this.changed.keys()])].flatMap((key) => this.get(key) ?? [])

  get(key: string): T['record'] | null {
    const changed = this.changed.get(key)
    return changed === undefined ? (this.seen(key)?.record ?? null) : changed
  }

  /** What the rules see: with what this batch has changed beside the record itself. */
  current(key: string): T['record'] | null {
    const record = this.get(key)
    return record && this.#follower ? this.#follower.current(record) : record
  }

  followedBy(follower: Follower<T['record']>): void {
    this.#follower = follower
  }

  /** Keeps what a command decided. */
  decided(key: string, { record, others }: Pick<KindDecision<T>, 'record' | 'others'>): void {
    this.set(key, record)
    if (record) this.#follower?.decided(record)
    for (const other of others?.written ?? []) this.set(this.kind.keyOf(other), other)
    for (const other of others?.removed ?? []) this.set(other, null)
  }

  set(key: string, record: T['record'] | null): void {
    const before = this.get(key)
    if (record === before) return
    this.changed.set(key, record)
    this.#countedDelta += Number(this.kind.counts(record)) - Number(this.kind.counts(before))
  }

  changes(): KindChanges<T> {
    const written: T['record'][] = []
    const removed: string[] = []
    for (const [key, record] of this.changed) {
      if (record === null) removed.push(key)
      else written.push(record)
    }
    return { written, removed }
  }
}

/** The records of each kind. A batch has no part for kinds that it does not touch. */
export class KindBatches {
  readonly #views: KindViews<KindName>
  readonly #batches = new Map<KindName, KindBatch<KindShape>>()

  constructor(views: KindViews<KindName>) {
    this.#views = views
  }

  of<K extends KindName>(kind: K): KindBatch<KindTypes[K]> {
    let batch = this.#batches.get(kind)
    if (!batch) {
      batch = new KindBatch(KINDS[kind] as unknown as Kind<KindShape>, this.#views[kind])
      this.#batches.set(kind, batch)
    }
    return batch as unknown as KindBatch<KindTypes[K]>
  }

  changes(): { readonly [K in KindName]: KindChanges<KindTypes[K]> } {
    let all = NO_CHANGES
    for (const [kind, batch] of this.#batches)
      if (batch.changed.size > 0) all = { ...all, [kind]: batch.changes() }
    return all
  }
}
