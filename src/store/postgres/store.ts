import type pg from 'pg'
import type { Ask, Changes, View } from '../../core/batch.ts'
import type { Transactor } from '../store.ts'
import { serverPool } from './connect.ts'
import { assertSafeToServe, migrate } from './migrate.ts'
import { PostgresReader } from './reads.ts'
import { type Committed, PostgresTransactor } from './transact.ts'

export const SERVER_ROLE = 'baton_server'

const WRITERS = 4
const READERS = 6

/** Postgres, opened: set up to this version, checked to be safe, with one pool for writing and one for reading. */
export class PostgresStore extends PostgresReader implements Transactor {
  readonly writers: pg.Pool
  readonly readers: pg.Pool
  readonly #transactor: PostgresTransactor
  readonly #listeners = new Set<Committed>()

  private constructor(writers: pg.Pool, readers: pg.Pool) {
    super(readers)
    this.writers = writers
    this.readers = readers
    this.#transactor = new PostgresTransactor(writers, (workspaceId, what) => {
      for (const listener of this.#listeners) listener(workspaceId, what)
    })
  }

  static async open(url: string, role = SERVER_ROLE): Promise<PostgresStore> {
    await migrate(url, role)
    const store = new PostgresStore(
      serverPool(url, role, WRITERS, true),
      serverPool(url, role, READERS, false),
    )
    try {
      await assertSafeToServe(store.readers)
    } catch (error) {
      await store.close()
      throw error
    }
    return store
  }

  transact<T>(
    workspaceId: number,
    ask: Ask,
    decide: (view: View) => { answer: T; changes: Changes },
  ): Promise<T> {
    return this.#transactor.transact(workspaceId, ask, decide)
  }

  /** Called after each commit of this process: a hint that there is something new to read. */
  onCommit(listener: Committed): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Throws when the database does not answer. */
  async ping(): Promise<void> {
    await this.readers.query('select 1')
  }

  async close(): Promise<void> {
    await Promise.all([this.writers.end(), this.readers.end()])
  }
}
