import {
  decideLeaderLease,
  isTermCurrent,
  type LeaderLeaseCommand,
  type LeaderTerm,
} from '../pure/leader-lease.ts'

/** The leader lease, term by term, and the actions that run under a term now. */
export class MemoryLeaderLease {
  readonly #now: () => number
  readonly #terms: LeaderTerm[] = []
  readonly #acting = new Set<Promise<unknown>>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Oldest first. */
  get terms(): readonly LeaderTerm[] {
    return this.#terms
  }

  /** Takes, renews or releases the leader lease. Returns the term that the node holds afterwards. */
  async command(command: LeaderLeaseCommand): Promise<LeaderTerm | null> {
    const terms = this.#terms
    const decide = () => decideLeaderLease(terms.at(-1) ?? null, command, this.#now())
    // A successor waits for all actions under the last term. That term is over by then, so no new ones start.
    while (decide().taken && this.#acting.size > 0) await Promise.allSettled(this.#acting)
    const { changed, taken, holds } = decide()
    if (changed) terms[terms.length - 1] = changed
    if (taken) terms.push(taken)
    return holds
  }

  lasting(asked: readonly number[]): Set<number> {
    const newest = this.terms.at(-1)
    const lasts = newest !== undefined && isTermCurrent(newest, this.#now())
    return new Set(asked.filter((term) => lasts && term === newest.term))
  }

  /** No successor takes over until this is done. */
  async actUnder<T>(asked: readonly number[], act: () => Promise<T>): Promise<T> {
    if (this.lasting(asked).size === 0) return act()
    const acting = act()
    this.#acting.add(acting)
    try {
      return await acting
    } finally {
      this.#acting.delete(acting)
    }
  }
}
