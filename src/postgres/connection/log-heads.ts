/** Notices of other nodes may be lost: what was learned longer ago is read again. */
const KNOWN_FOR_MS = 2_000
const MOST_KNOWN = 100_000

interface Known {
  seq: number
  until: number
}

/**
 * The last committed number of each log, as far as this node has learned it from its own commits and from notices of others. It may
 * be behind the log and is never ahead: whatever is read from now on contains all events up to it.
 */
export class LogHeads {
  readonly #read: (workspaceId: number) => Promise<number>
  readonly #known = new Map<number, Known>()

  constructor(read: (workspaceId: number) => Promise<number>) {
    this.#read = read
  }

  /** A number that is committed. Commits are acknowledged in any order, so an earlier one may come later. */
  learn(workspaceId: number, seq: number): void {
    const now = performance.now()
    const known = this.#known.get(workspaceId)
    if (known && known.until > now && known.seq >= seq) return
    this.#known.set(workspaceId, { seq, until: now + KNOWN_FOR_MS })
    if (this.#known.size > MOST_KNOWN) this.#known.delete(this.#known.keys().next().value!)
  }

  /** A promise only when the database must be asked. */
  of(workspaceId: number): number | Promise<number> {
    const known = this.#known.get(workspaceId)
    if (known && known.until > performance.now()) return known.seq
    return this.#read(workspaceId).then((seq) => {
      this.learn(workspaceId, seq)
      return seq
    })
  }
}
