import { type Learnt, Mirror } from './mirror.ts'
import type { Seen } from './seen.ts'

const MOST_WORKSPACES = 1_000
/** Enough for several batches of many callers, and little for a server to read at once. */
const AHEAD = 500

/** The mirrors of the workspaces this process works in. The least recently read is dropped first. */
export class Mirrors {
  readonly #byWorkspace = new Map<number, Mirror>()

  /** Only one that a read has confirmed: where several processes write, deciding on a mirror would be in vain. */
  confirmed(workspaceId: number): Mirror | null {
    const mirror = this.#byWorkspace.get(workspaceId)
    return mirror?.isConfirmed ? mirror : null
  }

  /** How many tasks of a queue are worth reading beyond those that a batch needs. */
  ahead(workspaceId: number): number {
    return this.confirmed(workspaceId) ? AHEAD : 0
  }

  /** The mirror as of this read. */
  learn(workspaceId: number, seen: Seen, learnt: Learnt): Mirror {
    const known = this.#byWorkspace.get(workspaceId)
    const isAsLeft = known?.head === seen.head
    const mirror = isAsLeft ? known : new Mirror(seen)
    mirror.isConfirmed = isAsLeft
    mirror.learn(seen, learnt)
    this.#byWorkspace.delete(workspaceId)
    this.#byWorkspace.set(workspaceId, mirror)
    if (this.#byWorkspace.size > MOST_WORKSPACES)
      this.#byWorkspace.delete(this.#byWorkspace.keys().next().value!)
    return mirror
  }

  /** What it was told was written may not be. */
  drop(workspaceId: number, mirror: Mirror): void {
    if (this.#byWorkspace.get(workspaceId) === mirror) this.#byWorkspace.delete(workspaceId)
  }
}
