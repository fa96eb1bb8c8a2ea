import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../src/embedded-postgres/start.ts'
import { startPrivateMariadb } from '../../test/support/servers/mariadb.ts'
import { freshMysqlDatabase } from '../../test/support/servers/mysql-database.ts'
import type { PrivateServer } from '../../test/support/servers/private-server.ts'
import { startPrivateValkey } from '../../test/support/servers/valkey.ts'
import { cpuMsOfProcessTree } from '../server-cpu.ts'
import type { QueueServer } from './run.ts'

export type ServerName = 'postgres' | 'valkey' | 'mysql'
export type QueueServers = Partial<Record<ServerName, QueueServer>>

/** More than any peer opens, with one worker for each connection. */
const CONNECTIONS = { max_connections: '400' }
/** As much memory and log space as the embedded Postgres has. */
const ROOMY = ['--innodb-buffer-pool-size=512M', '--innodb-log-file-size=512M']

/** Servers that hold queues, all durable. What cannot be installed is left out, with a message. */
export async function withQueueServers<T>(
  wanted: readonly ServerName[],
  say: (what: string) => void,
  act: (servers: QueueServers) => Promise<T>,
): Promise<T> {
  const servers: QueueServers = {}
  const stops: (() => Promise<unknown>)[] = []
  const obtain = async (
    name: ServerName,
    start: () => Promise<PrivateServer>,
    { urlOf = sameUrl, upkeepOf = noUpkeep }: Partial<ServerOptions> = {},
  ) => {
    if (!wanted.includes(name)) return
    try {
      const server = await start()
      stops.push(() => server.stop())
      servers[name] = {
        url: await urlOf(server.url),
        read: async () => ({ cpuMs: cpuMsOfProcessTree(server.pid()), walBytes: null }),
        ...upkeepOf(server.url),
      }
    } catch (error) {
      say(`left out on ${name}: ${(error as Error).message}`)
    }
  }
  try {
    const { server, stop } = await startPostgres()
    servers.postgres = server
    stops.push(stop)
    await obtain('valkey', startPrivateValkey, { upkeepOf: upkeepOfValkey })
    await obtain('mysql', () => startPrivateMariadb(ROOMY), {
      urlOf: async (url) => (await freshMysqlDatabase(url)).url,
    })
    return await act(servers)
  } finally {
    for (const stop of stops) await stop()
  }
}

interface ServerOptions {
  /** Where peers connect to. */
  urlOf: (url: string) => Promise<string>
  upkeepOf: (url: string) => Pick<QueueServer, 'empty' | 'calm'>
}

const sameUrl = async (url: string) => url
const noUpkeep = () => ({})

/** The rewrite of its log is to Valkey what a checkpoint is to Postgres: rare, and long. */
const upkeepOfValkey = (url: string): Pick<QueueServer, 'empty' | 'calm'> => ({
  empty: () => withRedis(url, (redis) => redis.flushall()),
  calm: () =>
    withRedis(url, async (redis) => {
      await logRewritten(redis)
      await redis.bgrewriteaof()
      await logRewritten(redis)
    }),
})

async function logRewritten(redis: Redis): Promise<void> {
  while (/aof_rewrite_(in_progress|scheduled):1/.test(await redis.info('persistence'))) await setTimeout(20)
}

async function withRedis(url: string, act: (redis: Redis) => Promise<unknown>): Promise<void> {
  const redis = new Redis(url)
  try {
    await act(redis)
  } finally {
    redis.disconnect()
  }
}

async function startPostgres(): Promise<{ server: QueueServer; stop: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'))
  const postgres = await startEmbeddedPostgres({
    folder: join(folder, 'postgres'),
    log: () => undefined,
    settings: CONNECTIONS,
  })
  const pool = new pg.Pool({ connectionString: postgres.url, max: 1 })
  pool.on('error', () => undefined)
  const read = async () => {
    const { rows } = await pool.query(
      `select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as "walBytes"`,
    )
    return { cpuMs: cpuMsOfProcessTree(postgres.pid()), walBytes: rows[0].walBytes as number }
  }
  const stop = async () => {
    await pool.end()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { server: { url: postgres.url, read }, stop }
}
