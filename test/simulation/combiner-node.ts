import { Combiner } from '../../src/kernel/combiner.ts'
import { nameOf, outcomeOf } from './describe.ts'
import { type IncomingRequest, ServerNode } from './node.ts'
import { NodeDied } from './transaction-pauses.ts'

/**
 * The real combiner. It starts its transactions in setImmediate, which the scheduler lets run before a step ends; so it is
 * as deterministic as everything else.
 */
export class CombinerNode extends ServerNode {
  #combiner = this.#fresh()
  /** The decision whose answers are being delivered: at most one transaction ends in a step. */
  #answering = 0

  protected override take({ envelope, answer }: IncomingRequest): void {
    const { world } = this
    const { request } = envelope
    this.#combiner.run(0, request).then(
      (reply) => {
        world.trace.add(
          `  ${this.name} ${nameOf(envelope, world.nameOf)} → ${outcomeOf(reply, world.nameOf)}`,
        )
        world.ledger.answered(envelope, reply, this.#answering)
        answer(reply)
      },
      (error) => {
        if (!(error instanceof NodeDied)) world.breaks('rulesNeverThrow', String(error.stack))
        answer(null)
      },
    )
  }

  protected override forget(): void {
    this.#combiner = this.#fresh()
  }

  #fresh(): Combiner {
    const combiner: Combiner = new Combiner(
      {
        transact: (workspaceId, { decide, ...step }) =>
          this.within(async (transaction) => {
            // Requests that waited before a restart are never sent.
            if (combiner !== this.#combiner) throw new NodeDied()
            const decideHere: typeof decide = (view) => {
              const decision = decide(view)
              const { replies } = decision.answer as { replies: unknown[] }
              this.world.coverage.batch('combined', replies.length)
              return decision
            }
            const answer = await this.through(transaction).transact(workspaceId, {
              ...step,
              decide: decideHere,
            })
            this.#answering = transaction.order
            return answer
          }),
      },
      { largestBatch: this.world.random.int(2, 6) },
    )
    return combiner
  }
}
