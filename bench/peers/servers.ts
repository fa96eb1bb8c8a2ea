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

/** More than any peer opens, with one worker for each connection. */
const CONNECTIONS = { max_connections: '400' }
/** As much memory and log space as the embedded Postgres has. */
const ROOMY = ['--innodb-buffer-pool-size=512M', '--innodb-log-file-size=512M']

interface Started {
  server: QueueServer
  stop: () => Promise<unknown>
}

/** All durable. */
const START: Record<ServerName, () => Promise<Started>> = {
  postgres: startPostgres,
  valkey: async () => {
    const server = await startPrivateValkey()
    return startedAs(server, server.url, upkeepOfValkey(server.url))
  },
  mysql: async () => {
    const server = await startPrivateMariadb(ROOMY)
    try {
      return startedAs(server, (await freshMysqlDatabase(server.url)).url)
    } catch (error) {
      await server.stop()
      throw error
    }
  },
}

/** A server of its own. Null, with a message, when it cannot be installed. */
export async function withQueueServer<T>(
  name: ServerName,
  say: (what: string) => void,
  act: (server: QueueServer) => Promise<T>,
): Promise<T | null> {
  const started = await START[name]().catch((error: Error) => {
    if (name === 'postgres') throw error
    say(`left out on ${name}: ${error.message}`)
    return null
  })
  if (!started) return null
  try {
    return await act(started.server)
  } finally {
    await started.stop()
  }
}

const startedAs = (
  server: PrivateServer,
  url: string,
  upkeep: Pick<QueueServer, 'empty' | 'calm'> = {},
): Started => ({
  server: {
    url,
    read: async () => ({ cpuMs: cpuMsOfProcessTree(server.pid()), walBytes: null }),
    ...upkeep,
  },
  stop: () => server.stop(),
})

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

async function startPostgres(): Promise<Started> {
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
