import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { findDatabase } from '../../src/postgres/connection/database.ts'
import { StartRefused } from '../../src/pure/refusal.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { emptyDatabase, makeDatabasesOn } from '../support/database.ts'
import { superuser } from '../support/nodes.ts'
import { startPgbouncer } from '../support/servers/pgbouncer.ts'
import { startPrivatePostgres } from '../support/servers/postgres.ts'
import type { PrivateServer } from '../support/servers/private-server.ts'
import { granted, holder, outcome, Work } from '../support/tasks.ts'

const { postgres, pgbouncer } = inject('distribution')

const ONE_SENTENCE = /^[A-Z][^\n]*\.$/

async function refusal(url: string): Promise<string> {
  const error = await PostgresStore.open(url).then(
    () => expect.fail('nothing was refused'),
    (error: Error) => error,
  )
  expect(error).toBeInstanceOf(StartRefused)
  expect(error.message).toMatch(ONE_SENTENCE)
  return error.message
}

const schemasIn = (url: string) =>
  superuser(
    url,
    async (client) => (await client.query(`select to_regnamespace('baton')::text as found`)).rows,
  )

describe.skipIf(!postgres)('on a server of its own', () => {
  let server: PrivateServer
  beforeAll(async () => {
    server = await startPrivatePostgres(postgres!)
    makeDatabasesOn(server.url)
  })
  afterAll(() => server?.stop())

  const sql = (text: string) => superuser(server.url, (client) => client.query(text))

  /** A setting of the whole server, for as long as it takes. */
  async function withSetting<T>(name: string, value: string, act: () => Promise<T>): Promise<T> {
    const reloaded = async (statement: string, expected: string | null) => {
      await sql(statement)
      await sql('select pg_reload_conf()')
      // The server reloads its files asynchronously.
      await expect
        .poll(
          async () => (await superuser(server.url, (client) => client.query(`show ${name}`))).rows[0][name],
        )
        .toBe(expected)
    }
    await reloaded(`alter system set ${name} = ${value}`, value)
    try {
      return await act()
    } finally {
      await reloaded(`alter system reset ${name}`, 'on')
    }
  }

  test.each(['fsync', 'full_page_writes'])('%s = off is refused', async (name) => {
    const { url } = await emptyDatabase()
    await withSetting(name, 'off', async () => {
      expect(await refusal(url)).toBe(
        `The database is not durable (${name} = off); acknowledged work could be lost.`,
      )
    })
    expect(await schemasIn(url), 'nothing was made').toEqual([{ found: null }])
  })

  test.each(['SQL_ASCII', 'LATIN1'])('a database encoded in %s is refused', async (encoding) => {
    const { url } = await emptyDatabase(
      `encoding '${encoding}' locale_provider libc locale 'C' template template0`,
    )
    expect(await refusal(url)).toMatch(new RegExp(`^The database is encoded in ${encoding}, .*'UTF8'`))
    expect(await schemasIn(url)).toEqual([{ found: null }])
  })

  test('a database whose triggers are switched off is refused', async () => {
    const { url } = await emptyDatabase()
    await sql(`alter database ${new URL(url).pathname.slice(1)} set session_replication_role = replica`)
    expect(await refusal(url)).toContain('session_replication_role = replica')
    expect(await schemasIn(url)).toEqual([{ found: null }])
  })

  test('the log line about a database has version, encoding, collation and replication', async () => {
    const { url } = await emptyDatabase()
    expect((await findDatabase(url)).found).toMatch(
      /^The database \(.*\): PostgreSQL \d+\.\d+.*, UTF8, collation en-US, no standby\.$/,
    )
    // A client that copies the log is counted from its first moment.
    const copying = new pg.Client({ connectionString: url, replication: 'true' } as pg.ClientConfig)
    await copying.connect()
    expect((await findDatabase(url)).found).toMatch(/, 1 standby\.$/)
    await copying.end()
  })

  describe.skipIf(!pgbouncer)('behind PgBouncer', () => {
    async function behind<T>(settings: Record<string, string>, act: (url: string) => Promise<T>): Promise<T> {
      const { url } = await emptyDatabase()
      const bouncer = await startPgbouncer(pgbouncer!, url, settings)
      try {
        return await act(bouncer.url)
      } finally {
        await bouncer.stop()
      }
    }

    test.each([
      ['transaction', {}],
      ['transaction', { ignore_startup_parameters: 'options' }],
      ['transaction', { server_round_robin: '1', min_pool_size: '2' }],
      ['transaction', { server_round_robin: '1', min_pool_size: '6' }],
      ['statement', {}],
    ])('in %s mode, with %o, it is refused with advice', async (mode, more) => {
      await behind({ pool_mode: mode, ...more }, async (url) => {
        expect(await refusal(url)).toBe(
          'The database is behind a pooler that shares sessions between transactions, as PgBouncer does with pool_mode = transaction: use pool_mode = session, or connect to the database directly.',
        )
      })
    })

    test.each<Record<string, string>>([{}, { ignore_startup_parameters: 'options' }])(
      'in session mode, with %o, every connection is as without it',
      async (more) => {
        await behind({ pool_mode: 'session', ...more }, async (url) => {
          const [store, another] = [await PostgresStore.open(url), await PostgresStore.open(url)]
          try {
            expect(store.found).toContain('behind a pooler')
            const shown = `select current_user as role, current_setting('jit') as jit, current_setting('lock_timeout') as lock,
              current_setting('default_transaction_read_only') as read`
            for (const pool of [store.writers, store.readers, store.control, store.output])
              expect((await pool.query(shown)).rows).toEqual([
                {
                  role: 'baton_server',
                  jit: 'off',
                  lock: '10s',
                  read: pool === store.readers ? 'on' : 'off',
                },
              ])
            const { workspaceId } = await createWorkspace(store, 'test', 'test')
            const heard = new Promise((resolve) => another.onCommit(resolve))
            const work = new Work(store, workspaceId)
            const task = await work.create()
            expect(await heard).toBe(workspaceId)
            const hold = granted(await work.claim(task, holder('alpha')))
            expect(outcome(await work.submit(task, hold))).toBe('ACCEPTED')
          } finally {
            await Promise.all([store.close(), another.close()])
          }
        })
      },
    )
  })

  test('a standby is refused', async () => {
    const { url } = await emptyDatabase()
    writeFileSync(join(server.folder, 'data', 'standby.signal'), '')
    await server.restart()
    expect(await refusal(url)).toBe(
      'The database is a standby, which accepts no writes; connect to its primary.',
    )
  })
})
