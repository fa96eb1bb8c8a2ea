import { LEADER_LEASE_MS, type LeaderLeaseCommand } from '../core/rules/leader-lease.ts'
import type { ServerStore } from '../store/server-store.ts'
import { StoreUnavailable } from '../store/store.ts'

/**
 * Which node coordinates. The office is a lease in the database, and whatever its holder writes carries the number of its
 * term: what this object believes only spares useless work, the database refuses what comes too late.
 */
export class Leadership {
  readonly #store: ServerStore
  readonly #nodeId: string
  readonly #leaseMs: number
  #held: { term: number; until: number } | null = null
  #asking: Promise<number | null> | null = null
  #askAgainAt = 0

  constructor(store: ServerStore, nodeId: string, options: { leaseMs?: number } = {}) {
    this.#store = store
    this.#nodeId = nodeId
    this.#leaseMs = options.leaseMs ?? LEADER_LEASE_MS
  }

  /**
   * The term it holds as far as it knows. The lease is counted from before it was asked for, so it is over here no later
   * than in the database, also when the database cannot be asked any more.
   */
  get term(): number | null {
    return this.#held && performance.now() < this.#held.until ? this.#held.term : null
  }

  /**
   * Takes or keeps the office. The term this node coordinates under, or null while another node does. Throws when the
   * store is away. May be called at any pace: it asks when it is time to.
   */
  async hold(): Promise<number | null> {
    // Whoever comes while it is asked goes on with what is known, if that still lasts.
    if (this.#asking) return this.term ?? this.#asking
    if (performance.now() < this.#askAgainAt) return this.term
    this.#asking = this.#ask().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  /** Lets go of the office, so that another node need not wait for the end of the lease. */
  async resign(): Promise<void> {
    await this.#asking?.catch(() => undefined)
    this.#held = null
    // Asked even when this node knows of no term: the answer that gave it one may have been lost.
    await this.#command('resign').catch((error: unknown) => {
      // It cannot be told, and ends by itself.
      if (!(error instanceof StoreUnavailable)) throw error
    })
  }

  async #ask(): Promise<number | null> {
    const before = performance.now()
    this.#askAgainAt = before + this.#leaseMs / 4
    const kept = this.term === null ? null : await this.#command('renew')
    const holds = kept ?? (await this.#command('take'))
    this.#held = holds && { term: holds.term, until: before + this.#leaseMs }
    if (holds) this.#askAgainAt = before + this.#leaseMs / 3
    return this.term
  }

  #command(kind: LeaderLeaseCommand['kind']) {
    return this.#store.cluster.updateLeaderLease({ kind, nodeId: this.#nodeId, leaseMs: this.#leaseMs })
  }
}
