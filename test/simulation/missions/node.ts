import type { ServerKernel } from '../../../src/door/server-kernel.ts'
import type { ServerStore } from '../../../src/door/server-store.ts'
import type { Directory } from '../../../src/kernel/kernel.ts'
import { Refused } from '../../../src/pure/errors.ts'
import { openKernel } from '../../../src/upkeep/open-kernel.ts'
import { type CoordinatorContext, STEPS } from '../../../src/upkeep/pass.ts'
import { type StoreUser, storeOf } from '../runs/memory.ts'
import type { Transaction } from '../transaction-pauses.ts'
import type { MissionWorld } from './world.ts'

/** No agent of this world is run or assigned work by Baton; and the memory store has no counters or ledger to correct, no inbox and no webhooks. */
const NOT_HERE = new Set([
  'tasksAssigned',
  'agentsWoken',
  'countersCorrected',
  'alertsSettled',
  'alertsFollowed',
  'alertsSwept',
  'ledgerCorrected',
  'webhooksTold',
  'webhooksBegun',
  'webhooksKnown',
])
const UPKEEP = STEPS.filter(({ name }) => !NOT_HERE.has(name))

const NOBODY: Directory = {
  agentOf: () => Promise.reject(new Error('Nothing here asks for an agent by name.')),
  projectOf: async () => null,
}

/** A process of Baton: it takes requests, reacts to what it has committed, and does upkeep while it leads, until it dies. */
export class MissionNode implements StoreUser {
  readonly name: string
  readonly kernel: ServerKernel
  readonly #world: MissionWorld
  readonly #underWay = new Set<Transaction>()
  #alive = true
  #transactions = 0

  constructor(world: MissionWorld, name: string) {
    this.#world = world
    this.name = name
    const store = world.bugged(storeOf(world.memory, this, world.scheduler))
    const fault = (error: unknown, what: string) => world.fault(error, what)
    this.kernel = openKernel(store as unknown as ServerStore, NOBODY, fault)
  }

  isAlive = () => this.#alive
  readMs = () => {
    const { random, faults } = this.#world
    return random.chance(faults.stall) ? random.int(100, 12_000) : random.int(0, 3)
  }

  begin(): Transaction {
    const label = `${this.name}#${++this.#transactions}`
    const transaction = { label, order: 0, abandoned: false, committing: false, killNode: () => this.kill() }
    this.#underWay.add(transaction)
    return transaction
  }

  end(transaction: Transaction): void {
    this.#underWay.delete(transaction)
  }

  async start(): Promise<void> {
    const { scheduler, random } = this.#world
    const about = { kernel: this.kernel } as unknown as CoordinatorContext
    while (this.#alive) {
      await scheduler.sleep(this.#world.upkeepMs * (0.5 + random.next()), `${this.name} upkeep`)
      if (!this.#alive || !this.#world.leads(this)) continue
      for (const { run } of UPKEEP)
        await run(about).catch((error) => {
          // Decided by another node meanwhile.
          if (!(error instanceof Refused)) this.#world.fault(error, 'upkeep')
        })
    }
  }

  /** As `kill -9` does it: what it would have done after a commit is never done. */
  kill(): void {
    if (!this.#alive) return
    this.#alive = false
    for (const transaction of this.#underWay) transaction.abandoned = true
    this.#world.died()
  }
}
