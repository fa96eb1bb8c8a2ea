import type { ServerStore } from '../door/server-store.ts'
import { StoreUnavailable } from '../kernel/store/store.ts'
import { LEADER_LEASE_MS, type LeaderLeaseCommand } from '../pure/leader-lease.ts'

/**
 * Which node coordinates. The leader holds a lease in the database, and all its writes carry the number of its term. The
 * state of this object only avoids useless work; the database refuses late writes.
 */
export class Leadership {
  readonly #store: ServerStore
  readonly #nodeId: string
  readonly leaseMs: number
  #held: { term: number; until: number } | null = null
  #requesting: Promise<number | null> | null = null
  #requestAgainAt = 0

  constructor(store: ServerStore, nodeId: string, options: { leaseMs?: number } = {}) {
    this.#store = store
    this.#nodeId = nodeId
    this.leaseMs = options.leaseMs ?? LEADER_LEASE_MS
  }

  /**
   * The term this node believes it holds. The lease counts from before the request, so it expires here no later than in the
   * database, even when the database is unreachable.
   */
  get term(): number | null {
    return this.#held && performance.now() < this.#held.until ? this.#held.term : null
  }

  /**
   * Takes or renews the leader lease. Returns the term of this node, or null while another node leads. Throws when the
   * store is unreachable. Can be called at any rate: it queries the database only when a renewal is due.
   */
  async hold(): Promise<number | null> {
    // During a request, callers use the known term while it is valid.
    if (this.#requesting) return this.term ?? this.#requesting
    if (performance.now() < this.#requestAgainAt) return this.term
    this.#requesting = this.#request().finally(() => {
      this.#requesting = null
    })
    return this.#requesting
  }

  /** Gives up the leader lease, so that another node need not wait for it to expire. */
  async resign(): Promise<void> {
    await this.#requesting?.catch(() => undefined)
    this.#held = null
    // Sent even when this node knows of no term: the answer that granted one may have been lost.
    await this.#command('resign').catch((error: unknown) => {
      // The store is unreachable; the lease expires on its own.
      if (!(error instanceof StoreUnavailable)) throw error
    })
  }

  async #request(): Promise<number | null> {
    const before = performance.now()
    this.#requestAgainAt = before + this.leaseMs / 4
    const kept = this.term === null ? null : await this.#command('renew')
    const holds = kept ?? (await this.#command('take'))
    this.#held = holds && { term: holds.term, until: before + this.leaseMs }
    if (holds) this.#requestAgainAt = before + this.leaseMs / 3
    return this.term
  }

  #command(kind: LeaderLeaseCommand['kind']) {
    return this.#store.cluster.updateLeaderLease({ kind, nodeId: this.#nodeId, leaseMs: this.leaseMs })
  }
}
