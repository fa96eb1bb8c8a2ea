import type { Changes, ReadSet } from '../../src/kernel/store/portable.ts'
import type { Keys } from './keys.ts'
import { Known } from './known.ts'
import type { Read, Seen } from './seen.ts'
import type { TasksAfter } from './tasks-after.ts'

/** After another process wrote, each batch reads first, for this long: a decision on stale data is wasted. */
const OTHERS_WRITE_MS = 1_000
/** Beyond these, what is known is forgotten and read again. */
const MOST_TASKS = 20_000
const MOST_WORKSPACES = 100
/** A read fetches as many ready tasks as so many batches like it will need. */
const MOST_BATCHES_AHEAD = 8

interface Entry {
  known: Known | null
  othersWriteUntil: number
  batchesAhead: number
}

/** What this process knows of the workspaces that it writes to alone. */
export class KnownWorkspaces {
  readonly #entries = new Map<number, Entry>()

  /** What a batch needs, if it is known. */
  seenFor(workspaceId: number, readSet: ReadSet): Seen | null {
    return this.#usable(workspaceId)?.known?.seenFor(readSet) ?? null
  }

  /** For how many batches a read should fetch ready tasks. */
  batchesAhead(workspaceId: number): number {
    return this.#usable(workspaceId)?.batchesAhead ?? 1
  }

  read(workspaceId: number, keys: Keys, read: Read, readSet: ReadSet): void {
    const entry = this.#entry(workspaceId)
    if (entry.known && entry.known.head !== read.seen.head) this.lost(workspaceId)
    if (entry.known && entry.known.size < MOST_TASKS) entry.known.add(read, readSet)
    else entry.known = new Known(keys, read, readSet)
    entry.batchesAhead = Math.min(entry.batchesAhead * 2, MOST_BATCHES_AHEAD)
  }

  /** A write was sent that was decided on what is known now. */
  wrote(workspaceId: number, seen: Seen, after: TasksAfter, changes: Changes, head: string): void {
    const entry = this.#entry(workspaceId)
    const { known } = entry
    if (known?.head !== seen.head) entry.known = null
    else if (!known.wrote(seen, after, changes, head)) entry.batchesAhead = 1
  }

  setClock(workspaceId: number, now: number): void {
    this.#entries.get(workspaceId)?.known?.setClock(now)
  }

  /** It is not known whether what was to be written is. */
  forget(workspaceId: number): void {
    this.#entry(workspaceId).known = null
  }

  /** What was known is out of date: another process wrote. */
  lost(workspaceId: number): void {
    const entry = this.#entry(workspaceId)
    entry.known = null
    entry.othersWriteUntil = performance.now() + OTHERS_WRITE_MS
    entry.batchesAhead = 1
  }

  #usable(workspaceId: number): Entry | null {
    const entry = this.#entries.get(workspaceId)
    return entry && entry.othersWriteUntil < performance.now() ? entry : null
  }

  #entry(workspaceId: number): Entry {
    let entry = this.#entries.get(workspaceId)
    if (!entry) {
      if (this.#entries.size >= MOST_WORKSPACES) this.#entries.clear()
      entry = { known: null, othersWriteUntil: 0, batchesAhead: 1 }
      this.#entries.set(workspaceId, entry)
    }
    return entry
  }
}
