import type { Store } from '../../src/kernel/store/store.ts'
import { updateLeaderLease } from '../../src/postgres/cluster/leader-lease.ts'
import { registerNode } from '../../src/postgres/cluster/nodes.ts'
import {
  decideLeaderLease,
  isTermCurrent,
  type LeaderLeaseCommand,
  type LeaderTerm,
} from '../../src/pure/leader-lease.ts'
import { PostgresStore } from '../../src/store/store.ts'

/** The nodes that want to coordinate; nodes have such names in a real store. */
export const COORDINATORS = ['019a0000-0000-7000-8000-00000000000a', '019a0000-0000-7000-8000-00000000000b']

/** The leaders, term by term. */
export interface LeaderLease {
  /** Oldest first. */
  readonly terms: readonly LeaderTerm[]
  command(command: LeaderLeaseCommand): Promise<LeaderTerm | null>
}

type UpdateLeaderLease = (command: LeaderLeaseCommand) => Promise<LeaderTerm | null>

/** The leader lease of a real store, where it has one. */
export function leaderLeaseOf(store: Store): UpdateLeaderLease | null {
  if (!(store instanceof PostgresStore)) return null
  const { control } = store
  let areKnown = false
  return async (command) => {
    if (!areKnown)
      for (const nodeId of COORDINATORS)
        await registerNode(control, { nodeId, name: 'sim', pid: process.pid, version: 'sim' })
    areKnown = true
    return updateLeaderLease(control, command)
  }
}

const HOUR_MS = 3_600_000

/**
 * A real store's terms in the run's time. They use the store's own clock, so there they last for long and end when the run
 * says so; and they continue from run to run, so here they have numbers of their own.
 */
export class PacedLeaderLease implements LeaderLease {
  readonly terms: LeaderTerm[] = []
  readonly #command: UpdateLeaderLease
  readonly #now: () => number
  readonly #realOf = new Map<number, number>()

  constructor(command: UpdateLeaderLease, now: () => number) {
    this.#command = command
    this.#now = now
  }

  async command(command: LeaderLeaseCommand): Promise<LeaderTerm | null> {
    const { changed, taken, holds } = decideLeaderLease(this.terms.at(-1) ?? null, command, this.#now())
    if (changed) this.terms[this.terms.length - 1] = changed
    if (taken) this.terms.push(taken)
    if (changed?.endedAt != null || taken)
      for (const nodeId of COORDINATORS) await this.#command({ kind: 'resign', nodeId, leaseMs: HOUR_MS })
    if (taken) {
      const real = await this.#command({ kind: 'take', nodeId: taken.nodeId, leaseMs: HOUR_MS })
      this.#realOf.set(taken.term, real!.term)
    }
    return holds
  }

  /** As the real store numbers them. */
  realOf = (term: number) => this.#realOf.get(term) ?? 0

  /** Those that are active in the real store and in the run's time. */
  lasting(asked: readonly number[], inTheStore: ReadonlySet<number>, now: number): Set<number> {
    const lasts = (term: number) =>
      inTheStore.has(this.realOf(term)) && isTermCurrent(this.terms[term - 1]!, now)
    return new Set(asked.filter(lasts))
  }
}
