import {
  decideLeaderLease,
  isTermCurrent,
  type LeaderLeaseCommand,
  type LeaderTerm,
} from '../../core/rules/leader-lease.ts'

/** Who holds the coordinator's office, term by term, and who acts under one just now. */
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

  /** Takes, keeps or lets go of the office. Answers with the term that the node holds afterwards. */
  async command(command: LeaderLeaseCommand): Promise<LeaderTerm | null> {
    const terms = this.#terms
    const decide = () => decideLeaderLease(terms.at(-1) ?? null, command, this.#now())
    // Whoever follows waits for all who act under the last term: by then it is over, so no more of them come.
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

  /** Nobody follows until this is done. */
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
