import { randomFillSync } from 'node:crypto'
import type { View } from '../../src/kernel/store/portable.ts'
import type { Pool } from './connect.ts'
import { sql } from './sql.ts'

/** Reserved beyond what is requested, so that not every request for ids waits for a commit. */
const SPARE = 1_000
/** Spare ids are dropped after this: across nodes, larger ids should mean newer tasks. */
const KEPT_MS = 1_000

/**
 * Unused task ids. They come from a counter row that is incremented in separate transactions: in the transaction that uses
 * them, its lock would let only one node at a time create tasks.
 */
export class TaskIds {
  readonly #pool: Pool
  #next = 0
  #left = 0
  #takenAt = 0

  constructor(pool: Pool) {
    this.#pool = pool
  }

  async fresh(count: number): Promise<View['fresh']> {
    if (count === 0) return []
    const first = await this.#take(count)
    const random = randomFillSync(new Uint32Array(count))
    return Array.from(random, (bits, i) => ({ id: first + i, random: bits >>> 10 }))
  }

  async #take(count: number): Promise<number> {
    if (this.#left < count || performance.now() - this.#takenAt > KEPT_MS) {
      const taken = count + SPARE
      const { made } = await this.#pool.ask(
        sql`update baton_sequences set last_number = last_insert_id(last_number + ${taken}) where name = 'task'`,
      )
      this.#takenAt = performance.now()
      this.#next = made - taken + 1
      this.#left = taken
    }
    const first = this.#next
    this.#next += count
    this.#left -= count
    return first
  }
}
