import type { Kind, KindShape, KindView, Seen } from '../kinds/kind.ts'
import {
  byKind,
  KINDS,
  type KindChanges,
  type KindName,
  type KindTypes,
  type KindViews,
} from '../kinds/kinds.ts'

/** The records of one kind in a batch: as they were read, with the changes so far. */
export class KindBatch<T extends KindShape> {
  readonly kind: Kind<T>
  /** Null: removed. */
  readonly changed = new Map<string, T['record'] | null>()
  readonly #view: KindView<T>
  #countedDelta = 0

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

  get(key: string): T['record'] | null {
    const changed = this.changed.get(key)
    return changed === undefined ? (this.seen(key)?.record ?? null) : changed
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

export type KindBatches = { readonly [K in KindName]: KindBatch<KindTypes[K]> }

export const batchesOf = (views: KindViews<KindName>) =>
  byKind(
    (kind) => new KindBatch(KINDS[kind] as unknown as Kind<KindShape>, views[kind]),
  ) as unknown as KindBatches

export const changesIn = (batches: KindBatches) =>
  byKind((kind) => batches[kind].changes()) as { [K in KindName]: KindChanges<KindTypes[K]> }
