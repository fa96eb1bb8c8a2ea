import pg from 'pg'
import { StartRefused } from '../../core/refusal.ts'
import { StoreUnavailable } from '../store.ts'

export const SCHEMA = 'baton'

/** bigint and float8 as numbers: our ids and milliseconds stay below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === 20 || oid === 701
      ? Number
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
}

/**
 * Writing finds every row by its key, so there is one good plan for each statement, at any size: the rows whose ids are
 * in the batch, hashed against what the batch wants of them. It is made once and kept, since planning anew for each
 * batch costs more than it gains. The other kinds of plans are switched off: one that was made while a table was new and
 * empty would go on to compare every row with every wish long after the table has grown.
 */
const PLAN_FOR_WRITING = [
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'enable_bitmapscan=off',
  'enable_nestloop=off',
  'enable_mergejoin=off',
]

/**
 * Connections of the server. They take on the plain role at start-up, so that row-level security holds for them, and
 * carry time limits: a stopped client must not hold locks for ever.
 */
export function serverPool(url: string, role: string, size: number, forWriting: boolean): pg.Pool {
  const settings = [
    `role=${role}`,
    `search_path=${SCHEMA}`,
    'statement_timeout=30s',
    'lock_timeout=10s',
    'idle_in_transaction_session_timeout=15s',
    'timezone=UTC',
    ...(forWriting ? PLAN_FOR_WRITING : []),
  ]
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'baton',
    options: settings.map((setting) => `-c ${setting}`).join(' '),
    max: size,
    types,
    pipeline: true,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
  } as pg.PoolConfig)
  // A connection that breaks is replaced at next use, and whoever uses it is told by its query. Without a listener the
  // event would end the process.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

export async function adminClient(url: string): Promise<pg.Client> {
  let client: pg.Client
  try {
    client = new pg.Client({
      connectionString: url,
      application_name: 'baton-setup',
      connectionTimeoutMillis: 5_000,
      types,
    })
    client.on('error', () => undefined)
    await client.connect()
  } catch (error) {
    throw new StartRefused(`The database cannot be used (${withoutPassword(url)}): ${reasonOf(error)}.`)
  }
  return client
}

const reasonOf = (error: unknown) => {
  const { message, code } = error as { message?: string; code?: string }
  return (message || code || String(error)).replace(/\.$/, '')
}

function withoutPassword(url: string): string {
  try {
    const parsed = new URL(url)
    return `${parsed.protocol}//${parsed.host}${parsed.pathname}`
  } catch {
    return 'DATABASE_URL is not a URL'
  }
}

/** SQLSTATE classes and socket errors that say: not now. */
const NOT_NOW = /^(08|53|57P0|58|25P0[34]|55P03|57014)/
const RETRY = /^(40001|40P01)$/

export const isTransient = (error: unknown) => RETRY.test((error as { code?: string }).code ?? '')

/** For errors of the driver: those that say "not now" as such, the server's own complaints as they are. */
export function asUnavailable(error: unknown): unknown {
  const { code, message } = error as { code?: string; message?: string }
  // What does not come from the server itself comes from the way to it: sockets, time-outs, ended clients.
  const isFromServer = error instanceof pg.DatabaseError
  if (isFromServer && !NOT_NOW.test(code ?? '')) return error
  return new StoreUnavailable(message ?? String(error), { cause: error })
}

/** A connection from the pool, or StoreUnavailable: whatever the reason, without one nothing can be asked. */
export async function connectionFrom(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw new StoreUnavailable((error as Error).message, { cause: error })
  }
}
