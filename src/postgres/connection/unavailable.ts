import type pg from 'pg'
import { StoreUnavailable } from '../../kernel/store/store.ts'

/** What errors of the driver mean. The driver itself is loaded by connect.ts alone: acts that a queue in a library shares import reads, too. */

/** SQLSTATE classes and socket errors that mean: unavailable now. */
const NOT_NOW = /^(08|53|57P0|58|25P0[34]|55P03|57014)/
const DISK_FULL = '53100'
const RETRY = /^(40001|40P01)$/

/** How often the database was unavailable to this process: it is counted where that is found, and shown by metrics. */
export const outages = { count: 0 }

export const isTransient = (error: unknown) => RETRY.test((error as { code?: string }).code ?? '')

/** For driver errors: those that mean "unavailable" become StoreUnavailable, other errors of the server stay as they are. */
export function asUnavailable(error: unknown): unknown {
  const { code, message } = error as { code?: string; message?: string }
  // Only errors of the server have a severity; others come from the connection: sockets, timeouts, ended clients.
  const isFromServer = (error as { severity?: string }).severity !== undefined
  if (isFromServer && !NOT_NOW.test(code ?? '')) return error
  outages.count += 1
  return new StoreUnavailable(message ?? String(error), { cause: error, isDiskFull: code === DISK_FULL })
}

/** A connection from the pool, or StoreUnavailable: whatever the reason, nothing can be read without one. */
export async function connectionFrom(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    outages.count += 1
    throw new StoreUnavailable((error as Error).message, { cause: error })
  }
}
