import type { Request } from '../../src/kernel/batch/requests.ts'
import type { Transactor } from '../../src/kernel/store/store.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import type { Reply } from '../support/replies.ts'
import { NodeDied, type Transaction } from './transaction-pauses.ts'
import type { World } from './world.ts'

/** A request on its way, with what only a broken server would read. */
export interface Envelope {
  readonly request: Request
  readonly from: string
  /** The sender's own clock when it sent this. */
  readonly clock: number
  /** The task as the sender saw it before the request. */
  readonly seen: TaskRecord | null
}

export interface IncomingRequest {
  readonly envelope: Envelope
  /** Gets null when the connection breaks. */
  readonly answer: (reply: Reply | null) => void
}

/** A server process. It may die at any wait of a transaction; what it had not sent to the store is then never done. */
export abstract class ServerNode {
  readonly name: string
  protected readonly world: World
  #alive = true
  #transactions = 0
  readonly #underWay = new Set<Transaction>()

  constructor(world: World, name: string) {
    this.world = world
    this.name = name
  }

  receive(incoming: IncomingRequest): void {
    if (this.#alive) this.take(incoming)
    else incoming.answer(null)
  }

  protected abstract take(incoming: IncomingRequest): void
  /** Everything it knows is lost. */
  protected abstract forget(): void

  /** Runs one transaction that ends with this node. */
  protected async within<T>(act: (transaction: Transaction) => Promise<T>): Promise<T> {
    const label = `${this.name}#${++this.#transactions}`
    const killNode = () => this.#crash()
    const transaction: Transaction = { label, order: 0, abandoned: false, committing: false, killNode }
    this.#underWay.add(transaction)
    try {
      return await act(transaction)
    } finally {
      this.#underWay.delete(transaction)
    }
  }

  protected through(transaction: Transaction): Transactor<KindName> {
    const { store, pauses } = this.world
    return {
      transact: (workspaceId, { decide, ...step }) => {
        pauses.entering = transaction
        const decideHere: typeof decide = (view) => {
          if (transaction.abandoned && !transaction.committing) throw new NodeDied()
          transaction.order = ++this.world.decisions
          const decision = decide(view)
          pauses.deciding = transaction
          return decision
        }
        return store.transact(workspaceId, { ...step, decide: decideHere })
      },
    }
  }

  #crash(): void {
    if (!this.#alive) return
    this.#alive = false
    const { scheduler, random, coverage } = this.world
    coverage.fault('node crash')
    for (const transaction of this.#underWay) transaction.abandoned = true
    this.forget()
    scheduler.after(random.int(100, 5_000), `${this.name} starts again`, () => {
      this.#alive = true
    })
  }
}
