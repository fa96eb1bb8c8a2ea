import { StoreUnavailable } from '../../src/kernel/store/store.ts'
import type { Coverage } from './coverage.ts'
import type { Faults } from './plan.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

/** One transaction under way, and what its node's death means for it. */
export interface Transaction {
  readonly label: string
  /** Ends the node that runs it. */
  readonly killNode: () => void
  /** The place of its decision among all decisions of the run. */
  order: number
  /** Its node is dead: no caller gets an answer, and what is not yet on its way to the store is never written. */
  abandoned: boolean
  /** The commit had been sent before the node died: it will still be written. */
  committing: boolean
}

export class NodeDied extends StoreUnavailable {
  override name = 'NodeDied'
  constructor() {
    super('The node died.')
  }
}

type Where = 'before lock' | 'before commit' | 'after commit'

/**
 * Where a transaction waits, others run, and nodes die. The store does not say on whose behalf it pauses; but it enters,
 * decides and commits without a wait in between, so the last one to do so is the one.
 */
export class Pauses {
  entering!: Transaction
  deciding!: Transaction
  /** How many reached their commit. */
  commits = 0
  #committing!: Transaction
  readonly #scheduler: Scheduler
  readonly #random: Random
  readonly #coverage: Coverage
  readonly #faults: () => Faults

  constructor(scheduler: Scheduler, random: Random, coverage: Coverage, faults: () => Faults) {
    this.#scheduler = scheduler
    this.#random = random
    this.#coverage = coverage
    this.#faults = faults
  }

  pause(where: Where): Promise<void> {
    const transaction = this.#transactionAt(where)
    if (this.#random.chance(this.#faults().nodeCrash))
      this.#scheduler.after(this.#random.int(0, 2), `${transaction.label}'s node dies`, transaction.killNode)
    return new Promise((resolve, reject) => {
      this.#scheduler.after(this.#wait(), `${transaction.label} ${where}`, () => {
        if (where === 'before commit') {
          this.#committing = transaction
          this.commits += 1
        }
        const continues = !transaction.abandoned || (where === 'before commit' && transaction.committing)
        if (transaction.abandoned)
          this.#coverage.fault(`node died ${where}${continues ? ', still written' : ''}`)
        if (continues) resolve()
        else reject(new NodeDied())
      })
    })
  }

  #transactionAt(where: Where): Transaction {
    if (where === 'after commit') return this.#committing
    const transaction = where === 'before lock' ? this.entering : this.deciding
    // On its way to the commit it is random whether the node's death still stops it.
    transaction.committing = where === 'before commit' && this.#random.chance(0.5)
    return transaction
  }

  #wait(): number {
    if (!this.#random.chance(this.#faults().stall)) return this.#random.int(0, 2)
    return this.#random.chance(0.2) ? this.#random.int(5_000, 30_000) : this.#random.int(100, 4_000)
  }
}
