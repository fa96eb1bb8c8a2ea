import { decideAll } from '../../src/kernel/batch/decide-all.ts'
import { readSetOf, type View } from '../../src/kernel/batch/requests.ts'
import { ProjectFairness } from '../../src/pure/fairness.ts'
import type { Reply } from '../support/replies.ts'
import { nameOf, outcomeOf } from './describe.ts'
import { type Envelope, type IncomingRequest, ServerNode } from './node.ts'
import { NodeDied, type Transaction } from './transaction-pauses.ts'

/** Batches requests for a random time and decides a random number of them in one transaction. Bugs are planted here. */
export class BatchingNode extends ServerNode {
  readonly #waiting: IncomingRequest[] = []
  #gathering = false
  #fairness = new ProjectFairness()

  protected override take(incoming: IncomingRequest): void {
    this.#waiting.push(incoming)
    this.#batch()
  }

  protected override forget(): void {
    this.#fairness = new ProjectFairness()
    for (const { answer } of this.#waiting.splice(0)) answer(null)
  }

  #batch(): void {
    if (this.#gathering || this.#waiting.length === 0) return
    this.#gathering = true
    const { scheduler, random, plan } = this.world
    scheduler.after(random.chance(0.3) ? 0 : random.int(0, plan.batchMs), `${this.name} batches`, () => {
      this.#gathering = false
      const batch = this.#waiting.splice(0, random.int(1, 8))
      if (batch.length > 0) void this.#transact(batch)
      this.#batch()
    })
  }

  async #transact(batch: IncomingRequest[]): Promise<void> {
    const { world } = this
    const envelopes = batch.map(({ envelope }) => envelope)
    world.coverage.batch('batched', batch.length)
    try {
      await this.within(async (transaction) => {
        const replies = await this.#decide(transaction, envelopes)
        for (const [i, { envelope, answer }] of batch.entries()) {
          world.ledger.answered(envelope, replies[i]!, transaction.order)
          answer(replies[i]!)
        }
      })
    } catch (error) {
      if (!(error instanceof NodeDied)) world.breaks('rulesNeverThrow', String((error as Error).stack))
      for (const { answer } of batch) answer(null)
    }
  }

  #decide(transaction: Transaction, envelopes: readonly Envelope[]): Promise<Reply[]> {
    const { bug, trace, scheduler, nameOf: called } = this.world
    const requests = envelopes.map(({ request }) => request)
    const store = this.through(transaction)
    const { transact } = bug.wrap?.(store, () => scheduler.now) ?? store
    const decide = (view: View) => {
      const seen = bug.view?.(view, envelopes) ?? view
      const understood = requests.map((request) => bug.request?.(request, seen) ?? request)
      const { replies, changes } = decideAll(seen, understood, this.#fairness)
      for (const [i, reply] of replies.entries())
        trace.add(`  ${transaction.label} ${nameOf(envelopes[i]!, called)} → ${outcomeOf(reply, called)}`)
      return { answer: replies, changes: bug.changes?.(changes, requests, seen) ?? changes }
    }
    return transact(0, { on: 'batch', reads: readSetOf(requests), decide })
  }
}
