import type { Connection, Row } from './connect.ts'
import type { Sql } from './sql.ts'

/** Statements that are sent together, each with a handler for its rows. */
export class Packet {
  readonly #asked: { statement: Sql; read: (rows: Row[]) => void }[] = []

  ask(statement: Sql, read: (rows: Row[]) => void = () => undefined): void {
    this.#asked.push({ statement, read })
  }

  get isEmpty() {
    return this.#asked.length === 0
  }

  async send(connection: Connection): Promise<void> {
    const results = await connection.send(this.#asked.map(({ statement }) => statement))
    for (const [i, { read }] of this.#asked.entries()) read(results[i]!.rows)
  }
}
