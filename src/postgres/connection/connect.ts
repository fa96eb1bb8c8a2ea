import pg from 'pg'
import { StartRefused } from '../../pure/refusal.ts'
import { asOptions, asStatement, FOR_SERVING, type SessionSettings } from './session-settings.ts'

const CONNECT_MS = 5_000

/** bigint and float8 as numbers: our ids and milliseconds stay below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === 20 || oid === 701
      ? Number
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
}

/** How to connect to the database. */
export interface ConnectionTarget {
  url: string
  /** Options from the URL, placed before ours. */
  options: string
  /** For every connection. */
  settings: SessionSettings
  /** Connections come from a pooler: it refuses or ignores our options. */
  isPooled: boolean
}

const configOf = (
  { url, options, settings, isPooled }: ConnectionTarget,
  name: string,
  more: SessionSettings,
) => ({
  connectionString: url,
  application_name: name,
  options: isPooled ? options : `${options} ${asOptions({ ...settings, ...more })}`,
  types,
  connectionTimeoutMillis: CONNECT_MS,
  keepAlive: true,
})

/**
 * Behind a pooler, all settings are made right after connecting. The connection is not used before that, nor if it failed.
 */
const setOn = async (
  client: pg.ClientBase,
  { settings, isPooled }: ConnectionTarget,
  more: SessionSettings,
): Promise<void> => {
  if (isPooled) await client.query(asStatement({ ...settings, ...more }))
}

/** Connections of the server. They take on the server role at start-up, so that row-level security applies to them. */
export function serverPool(
  way: ConnectionTarget,
  role: string,
  size: number,
  more: SessionSettings = {},
): pg.Pool {
  const settings = { ...FOR_SERVING, ...more, role }
  const pool = new pg.Pool({
    ...configOf(way, 'baton', settings),
    onConnect: (client: pg.ClientBase) => setOn(client, way, settings),
    max: size,
    pipeline: true,
    idleTimeoutMillis: 30_000,
    // What an idle server does once a minute should find a connection open: a new one costs both sides some milliseconds.
    min: 2,
  } as pg.PoolConfig)
  // A broken connection is replaced at its next use, and the caller gets the error from its query. Without a listener the
  // event would end the process.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

/** A single connection, open. */
export async function openClient(
  way: ConnectionTarget,
  name: string,
  more: SessionSettings = {},
): Promise<pg.Client> {
  const client = new pg.Client(configOf(way, name, more))
  client.on('error', () => undefined)
  try {
    await client.connect()
    await setOn(client, way, more)
    return client
  } catch (error) {
    await client.end().catch(() => undefined)
    throw error
  }
}

export const cannotBeUsed = (url: string, error: unknown) =>
  new StartRefused(`The database cannot be used (${withoutPassword(url)}): ${reasonOf(error)}.`)

const reasonOf = (error: unknown) => {
  const { message, code } = error as { message?: string; code?: string }
  return (message || code || String(error)).replace(/\.$/, '')
}

export function withoutPassword(url: string): string {
  try {
    const parsed = new URL(url)
    return `${parsed.protocol}//${parsed.host}${parsed.pathname}`
  } catch {
    return 'DATABASE_URL is not a URL'
  }
}
