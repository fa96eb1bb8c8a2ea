import type pg from 'pg'
import { send } from './send.ts'
import type { Bound } from './statements.ts'

export type Rows = unknown[][]

export const NOTHING = (): Rows => []

/** Statements that are sent together; each returns a function that gives its rows afterwards. */
export class Pipeline {
  readonly #workspaceId: number
  readonly #statements: Bound[] = []
  #answers: pg.QueryArrayResult[] = []

  constructor(workspaceId: number) {
    this.#workspaceId = workspaceId
  }

  add(statement: Bound[0], values: unknown[]): () => Rows {
    const place = this.#statements.push([statement, values]) - 1
    return () => this.#answers[place]!.rows
  }

  /** With the workspace as the first parameter. */
  addIn = (statement: Bound[0], values: unknown[]) => this.add(statement, [this.#workspaceId, ...values])

  async send(client: pg.PoolClient): Promise<void> {
    this.#answers = await send(client, this.#statements)
  }
}
