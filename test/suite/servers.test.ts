import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Redis } from 'ioredis'
import type { RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { startOf } from '../../src/embedded-postgres/process-identity.ts'
import { compiledFile } from '../support/launched.ts'
import { DEBIAN, type Pretended, pretend } from '../support/servers/fake-machine.ts'
import { canStartPrivateMariadb, startMariadb, startPrivateMariadb } from '../support/servers/mariadb.ts'
import { freshMysqlDatabase, withMysql } from '../support/servers/mysql-database.ts'
import { obtainDistribution } from '../support/servers/postgres.ts'
import type { PrivateServer } from '../support/servers/private-server.ts'
import {
  canStartPrivateValkey,
  freshValkeyPrefix,
  startPrivateValkey,
  startValkey,
} from '../support/servers/valkey.ts'

const hasValkey = await canStartPrivateValkey()
const hasMariadb = await canStartPrivateMariadb()
const REDIS_6 = 'Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64'
const GONE = { interval: 10 }

async function withValkey<T>({ url }: { url: string }, act: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await act(client)
  } finally {
    client.disconnect()
  }
}

const ask = (url: string, sql: string) =>
  withMysql(url, async (client) => (await client.query<RowDataPacket[]>(sql))[0])

const settingsOf = (server: PrivateServer, ...names: string[]) =>
  withValkey(server, async (client) =>
    Object.fromEntries(
      await Promise.all(names.map(async (name) => (await client.config('GET', name)) as [string, string])),
    ),
  )

describe.skipIf(!hasValkey)('a private Valkey', () => {
  let valkey: PrivateServer
  beforeAll(async () => {
    valkey = await startPrivateValkey()
  })
  afterAll(() => valkey?.stop())

  test('has its log on disk before it answers, and evicts nothing', async () => {
    expect(
      await settingsOf(valkey, 'appendonly', 'appendfsync', 'maxmemory-policy', 'save', 'bind', 'dir'),
    ).toEqual({
      appendonly: 'yes',
      appendfsync: 'always',
      'maxmemory-policy': 'noeviction',
      save: '',
      bind: '127.0.0.1',
      dir: join(valkey.folder, 'data'),
    })
  })

  test('still has every acknowledged write after kill -9, at the same address', async () => {
    const prefix = freshValkeyPrefix()
    const keys = Array.from({ length: 200 }, (_, i) => `${prefix}${i}`)
    const { url } = valkey
    const before = valkey.pid()
    await withValkey(valkey, (client) => Promise.all(keys.map((key) => client.set(key, `of ${key}`))))
    await valkey.kill9()
    expect(startOf(before)).toBeUndefined()
    await expect(withValkey(valkey, (client) => client.ping())).rejects.toThrow()

    await valkey.restart()
    expect(valkey.url).toBe(url)
    expect(valkey.pid()).not.toBe(before)
    expect(await withValkey(valkey, (client) => client.mget(keys))).toEqual(keys.map((key) => `of ${key}`))
  })

  test('restarted cleanly, is another process with the same data', async () => {
    const key = freshValkeyPrefix()
    const before = valkey.pid()
    await withValkey(valkey, (client) => client.set(key, 'kept'))
    await valkey.restart()
    expect(valkey.pid()).not.toBe(before)
    expect(await withValkey(valkey, (client) => client.get(key))).toBe('kept')
  })
})

describe.skipIf(!hasValkey)('a Valkey that is set up in another way', () => {
  test('has these settings, and without a log it loses data in a crash', async () => {
    const valkey = await startPrivateValkey({ appendonly: 'no', 'maxmemory-policy': 'allkeys-lru' })
    try {
      expect(await settingsOf(valkey, 'appendonly', 'appendfsync', 'maxmemory-policy')).toEqual({
        appendonly: 'no',
        appendfsync: 'always',
        'maxmemory-policy': 'allkeys-lru',
      })
      await withValkey(valkey, (client) => client.set('key', 'lost'))
      await valkey.kill9()
      await valkey.restart()
      expect(await withValkey(valkey, (client) => client.get('key'))).toBeNull()
    } finally {
      await valkey.stop()
    }
  })

  test('that it refuses, reports its own error', async () => {
    await expect(startPrivateValkey({ 'maxmemory-policy': 'the-oldest' })).rejects.toThrow(
      /^The private Valkey did not start \(exit code 1\)\. The end of its log:\n[\s\S]*the-oldest/,
    )
  })

  test('leaves nothing behind when it is stopped, even if it was killed before', async () => {
    const valkey = await startPrivateValkey()
    const pid = valkey.pid()
    await valkey.stop()
    expect(startOf(pid)).toBeUndefined()
    expect(existsSync(valkey.folder)).toBe(false)

    const killed = await startPrivateValkey()
    await killed.kill9()
    await killed.stop()
    expect(existsSync(killed.folder)).toBe(false)
  })
})

describe.skipIf(!hasMariadb)('a private MariaDB', () => {
  let mariadb: PrivateServer
  beforeAll(async () => {
    mariadb = await startPrivateMariadb(['--max-connections=37'])
  })
  afterAll(() => mariadb?.stop())

  test('commits to disk, writes in utf8mb4, listens on loopback, and accepts arguments of the test', async () => {
    expect(
      await ask(
        mariadb.url,
        `select @@innodb_flush_log_at_trx_commit committed, @@log_bin replicated, @@character_set_server charset,
           @@bind_address address, @@innodb_buffer_pool_size bufferBytes, @@max_connections connections`,
      ),
    ).toEqual([
      {
        committed: 1,
        replicated: 0,
        charset: 'utf8mb4',
        address: '127.0.0.1',
        bufferBytes: 64 * 1024 * 1024,
        connections: 37,
      },
    ])
  })

  test('has a folder of its own for temporary tables, which a server that starts beside it leaves alone', async () => {
    const [settings] = await ask(mariadb.url, 'select @@tmpdir as folder')
    expect(settings!.folder).toBe(mariadb.folder)
    const inUse = join(mariadb.folder, '#sql-temptable-in-use.MAD')
    await writeFile(inUse, '')
    const beside = await startPrivateMariadb()
    await beside.stop()
    expect(existsSync(inUse)).toBe(true)
    await rm(inUse)
  })

  test('still has every committed row after kill -9, at the same address', async () => {
    const { url } = mariadb
    const before = mariadb.pid()
    const database = await freshMysqlDatabase(url)
    await ask(database.url, 'create table kept (n int primary key, said text) engine = innodb')
    for (let n = 1; n <= 50; n++) await ask(database.url, `insert into kept values (${n}, '${n} ✓')`)
    await mariadb.kill9()
    expect(startOf(before)).toBeUndefined()
    await expect(ask(url, 'select 1')).rejects.toThrow()

    await mariadb.restart()
    expect(mariadb.url).toBe(url)
    expect(mariadb.pid()).not.toBe(before)
    const rows = await ask(database.url, 'select n, said from kept order by n')
    expect(rows).toEqual(Array.from({ length: 50 }, (_, i) => ({ n: i + 1, said: `${i + 1} ✓` })))
    await database.drop()
  })

  test('gives each test a database of its own, and deletes it when dropped', async () => {
    const [one, other] = await Promise.all([freshMysqlDatabase(mariadb.url), freshMysqlDatabase(mariadb.url)])
    await ask(one.url, 'create table t (n int)')
    expect(await ask(other.url, 'show tables')).toEqual([])
    await Promise.all([one.drop(), other.drop()])
    expect(await ask(mariadb.url, `show databases like 'test%'`)).toEqual([])
  })

  test('that refuses its arguments reports its own error', async () => {
    await expect(startPrivateMariadb(['--no-such-thing'])).rejects.toThrow(
      /^The private MariaDB did not start \(exit code \d+\)\. The end of its log:\n[\s\S]*no-such-thing/,
    )
  })
})

describe('the servers of the test run', () => {
  test.skipIf(inject('valkeyUrl') === null)('have a Valkey that answers', async () => {
    expect(await withValkey({ url: inject('valkeyUrl')! }, (client) => client.ping())).toBe('PONG')
  })

  test.skipIf(inject('mariadbUrl') === null)('have a MariaDB that makes databases', async () => {
    const database = await freshMysqlDatabase(inject('mariadbUrl')!)
    expect(await ask(database.url, 'select 1 as answer')).toEqual([{ answer: 1 }])
    await database.drop()
  })
})

describe.skipIf(!hasValkey || !hasMariadb)('a test process that is killed with SIGKILL', () => {
  test('ends its servers and removes their folders', async () => {
    const from = (name: string) => JSON.stringify(compiledFile(`test/support/servers/${name}.ts`))
    const script = `
      import { startPrivateMariadb } from ${from('mariadb')}
      import { startPrivateValkey } from ${from('valkey')}
      const servers = await Promise.all([startPrivateValkey(), startPrivateMariadb()])
      console.log(JSON.stringify(servers.map((server) => ({ pid: server.pid(), folder: server.folder }))))`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const servers = JSON.parse(line) as { pid: number; folder: string }[]
    expect(servers.map(({ pid }) => startOf(pid))).toEqual([expect.any(String), expect.any(String)])

    child.kill('SIGKILL')
    for (const { pid, folder } of servers) {
      await expect.poll(() => startOf(pid), GONE).toBeUndefined()
      await expect.poll(() => existsSync(folder), GONE).toBe(false)
    }
  })
})

describe('a server that the environment names', () => {
  const nothingIsAsked = (env: Record<string, string>): Pretended => ({
    ...pretend({ env }),
    exists: (path) => expect.fail(`looked for ${path}`),
    run: (program) => expect.fail(`ran ${program}`),
  })

  test('is used as it is, and nothing is searched for, started or stopped', async () => {
    const cases = [
      [
        startValkey,
        { VALKEY_URL: 'rediss://u:p@valkey.example:6380/3' },
        'rediss://u:p@valkey.example:6380/3',
      ],
      [startMariadb, { MARIADB_URL: 'mysql://u:p@maria.example/' }, 'mysql://u:p@maria.example/'],
      [startMariadb, { MYSQL_URL: 'mysql://u:p@my.example/' }, 'mysql://u:p@my.example/'],
      [
        startMariadb,
        { MYSQL_URL: 'mysql://my.example', MARIADB_URL: 'mysql://maria.example' },
        'mysql://maria.example',
      ],
    ] as const
    for (const [start, env, url] of cases) {
      const server = await start(nothingIsAsked(env))
      expect(server).toMatchObject({ url })
      if ('stop' in server) await server.stop()
    }
  })
})

describe('where there is no server and none can be installed', () => {
  const VALKEY =
    'The tests on Valkey cannot run, because there is no valkey-server or redis-server of version 7 or later here, and it is installed automatically only on Debian and Ubuntu: install it, or set VALKEY_URL.'
  const MARIADB =
    'The tests on MariaDB cannot run, because there is no mariadbd (with mariadb-install-db) or mysqld here, and it is installed automatically only on Debian and Ubuntu: install it, or set MARIADB_URL or MYSQL_URL.'

  test('the tests are skipped, and one line says why', async () => {
    for (const [start, why] of [
      [startValkey, VALKEY],
      [startMariadb, MARIADB],
    ] as const) {
      const machine = pretend()
      expect(await start(machine)).toEqual({ skipped: why })
      expect(machine.said).toEqual([`Skipped: ${why}`])
    }
  })

  test('PostgreSQL and PgBouncer are left out, and one line each says why', async () => {
    const machine = pretend()
    expect(await obtainDistribution(machine)).toEqual({ postgres: null, pgbouncer: null })
    expect(machine.said).toEqual([
      'Skipped: The tests on the distribution’s PostgreSQL cannot run, because there is no PostgreSQL 15 or later here, and it is installed automatically only on Debian and Ubuntu: install it, or set POSTGRES_BIN.',
      'Skipped: The tests on PgBouncer cannot run, because there is no pgbouncer here, and it is installed automatically only on Debian and Ubuntu: install it, or set PGBOUNCER.',
    ])
  })

  test('with CI=true the start is refused, and one sentence says why', async () => {
    await expect(startValkey(pretend({ env: { CI: 'true' } }))).rejects.toThrow(new Error(VALKEY))
    await expect(startMariadb(pretend({ env: { CI: 'true' } }))).rejects.toThrow(new Error(MARIADB))
  })

  test('an ordinary user gets no password prompt', async () => {
    const machine = pretend({ files: DEBIAN, known: ['valkey-server', 'mariadb-server-core'] })
    expect(await startValkey(machine)).toMatchObject({ skipped: expect.stringContaining('only root can') })
    expect(await startMariadb(machine)).toMatchObject({ skipped: expect.stringContaining('only root can') })
    expect(machine.ran).toEqual([])
  })

  test('a Redis that is too old counts as none', async () => {
    const machine = pretend({
      files: ['/usr/bin/redis-server'],
      says: {
        '/usr/bin/redis-server --version': REDIS_6,
      },
    })
    expect(await startValkey(machine)).toEqual({ skipped: VALKEY })
  })

  test('a MariaDB that cannot create its data counts as none', async () => {
    const machine = pretend({ files: ['/usr/sbin/mariadbd', '/usr/bin/mariadb-install-db'] })
    expect(await startMariadb(machine)).toEqual({ skipped: MARIADB })
  })
})

describe('as root on Debian', () => {
  const root = (more: Parameters<typeof pretend>[0]) => pretend({ isRoot: true, files: DEBIAN, ...more })
  const install = (...names: string[]) =>
    `DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install --yes --no-install-recommends --no-remove ${names.join(' ')}`
  const update = 'DEBIAN_FRONTEND=noninteractive apt-get update'

  test('Valkey is installed from the package lists on the machine, and its service is not left running', async () => {
    const machine = root({ known: ['valkey-server', 'redis-server'] })
    await startValkey(machine)
    expect(machine.ran).toEqual([
      'apt-cache policy valkey-server',
      install('valkey-server'),
      'service valkey-server stop',
      'update-rc.d valkey-server disable',
    ])
    expect(machine.said[0]).toBe('Installing valkey-server for the tests …')
  })

  test('Redis is used where the archive has no Valkey, after an update if there are no lists', async () => {
    const machine = root({ knownAfterUpdate: ['redis-server'] })
    await startValkey(machine)
    expect(machine.ran.filter((command) => !command.startsWith('apt-cache'))).toEqual([
      update,
      install('redis-server'),
      'service redis-server stop',
      'update-rc.d redis-server disable',
    ])
  })

  test('MariaDB is installed without a service, under the release’s name for it', async () => {
    const machine = root({ known: ['mariadb-server-core'] })
    await startMariadb(machine)
    expect(machine.ran).toContain(install('mariadb-server-core', 'mariadb-client-core'))
    expect(machine.ran.filter((command) => command.startsWith('service'))).toEqual([])

    const older = root({ known: ['mariadb-server-core-10.6'] })
    await startMariadb(older)
    expect(older.ran).toContain(install('mariadb-server-core-10.6', 'mariadb-client-core-10.6'))
  })

  test('an installation from old lists is retried with new ones, and its failure is reported', async () => {
    const machine = root({
      known: ['redis-server'],
      says: { ' install ': '!E: Unable to fetch some archives.' },
    })
    expect(await startValkey(machine)).toMatchObject({
      skipped: expect.stringContaining(
        'and apt-get install failed: Unable to fetch some archives: install it, or',
      ),
    })
    const apt = machine.ran.filter((command) => command.includes('apt-get'))
    expect(apt).toEqual([install('redis-server'), update, install('redis-server')])
  })

  test('an existing Redis that is too old is neither used nor stopped', async () => {
    const machine = root({
      files: [...DEBIAN, '/usr/bin/redis-server'],
      known: ['redis-server'],
      installed: ['redis-server'],
      says: { '/usr/bin/redis-server --version': REDIS_6 },
    })
    expect(await startValkey(machine)).toMatchObject({ skipped: expect.any(String) })
    expect(machine.ran.filter((command) => /install|service|update-rc/.test(command))).toEqual([])
  })

  test('a private server is installed first as well, whatever the environment names, and its caller gets the reason if it cannot be', async () => {
    const machine = root({
      known: ['valkey-server', 'mariadb-server-core'],
      env: { VALKEY_URL: 'redis://it' },
    })
    await expect(startPrivateValkey({}, machine)).rejects.toThrow('the package does not bring it')
    expect(machine.ran).toContain(install('valkey-server'))
    await expect(startPrivateMariadb([], machine)).rejects.toThrow('the package does not bring it')
    expect(machine.ran).toContain(install('mariadb-server-core', 'mariadb-client-core'))
    await expect(startPrivateValkey({}, pretend({ files: DEBIAN }))).rejects.toThrow(
      'only root can install it',
    )
  })

  test('PostgreSQL is installed without a cluster of its own, in the newest version there is, and PgBouncer beside it', async () => {
    const machine = root({ known: ['postgresql-16', 'postgresql-15', 'pgbouncer'] })
    await obtainDistribution(machine)
    const settings = 'pg_conftool /etc/postgresql-common/createcluster.conf'
    expect(machine.ran.filter((command) => !command.startsWith('apt-cache'))).toEqual([
      install('postgresql-common'),
      `${settings} --short show create_main_cluster`,
      `${settings} set create_main_cluster false`,
      install('postgresql-16'),
      `${settings} remove create_main_cluster`,
      install('pgbouncer'),
      'service pgbouncer stop',
      'update-rc.d pgbouncer disable',
    ])
  })

  test('an existing setting about creating PostgreSQL clusters is not overruled', async () => {
    const machine = root({ known: ['postgresql-15'], says: { 'show create_main_cluster': 'off' } })
    await obtainDistribution(machine)
    expect(machine.ran.filter((command) => / (set|remove) /.test(command))).toEqual([])
    expect(machine.ran).toContain(install('postgresql-15'))
  })

  test('two installations at once wait for each other', async () => {
    const machine = root({ known: ['valkey-server', 'mariadb-server-core'] })
    await Promise.all([startValkey(machine), startMariadb(machine)])
    expect(machine.ran).toEqual([
      'apt-cache policy valkey-server',
      install('valkey-server'),
      'service valkey-server stop',
      'update-rc.d valkey-server disable',
      'apt-cache policy mariadb-server-core',
      install('mariadb-server-core', 'mariadb-client-core'),
    ])
  })
})
