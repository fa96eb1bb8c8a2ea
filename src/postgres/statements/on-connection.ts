import type pg from 'pg'
import { connectionFrom } from '../connection/unavailable.ts'
import { rollback } from './statements.ts'

/** Runs a transaction on a connection of the pool. When it fails, it is rolled back. */
export async function onConnection<T>(
  pool: pg.Pool,
  transaction: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await connectionFrom(pool)
  let broken = true
  try {
    const answer = await transaction(client)
    broken = false
    return answer
  } finally {
    // A connection with a transaction in an unknown state is not reused.
    if (broken)
      await client.query(rollback).then(
        () => (broken = false),
        () => undefined,
      )
    client.release(broken)
  }
}
