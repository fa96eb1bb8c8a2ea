import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { MysqlStore } from '../../stores/mysql/store.ts'
import { mysqlCatalogue, postgresCatalogue } from '../support/catalogue.ts'
import { freshDatabase } from '../support/database.ts'
import { freshMysqlDatabase, withMysql } from '../support/servers/mysql-database.ts'

/**
 * The copies in test/contract are the catalogues that each store's schema should have, on MariaDB apart from the renames
 * listed here: a change of the schema shows there, and a change that nobody meant shows here. UPDATE_CATALOGUES=1 writes
 * the copy for Postgres.
 */

type Renames = readonly (readonly [before: string, now: string])[]

const MYSQL: Renames = [
  ['baton_tasks.line ', 'baton_tasks.track_queue '],
  ['baton_queues.line ', 'baton_queues.track_queue '],
  ['result_one_an_epoch', 'result_one_per_epoch'],
]

/** The privileges of the owner are all that the version of the server knows. */
const withoutOwner = (line: string) => line.replace(/,?postgres=\w+\/postgres/g, '')

const fileOf = (name: string) => join(import.meta.dirname, '../contract', `${name}-catalogue.json`)
const copyOf = (name: string, renames: Renames = []): string[] =>
  (JSON.parse(readFileSync(fileOf(name), 'utf8')) as string[]).map((line) =>
    renames.reduce((text, [before, now]) => text.replaceAll(before, now), line),
  )

function expectSame(now: readonly string[], copy: readonly string[]): void {
  const without = (lines: readonly string[], others: readonly string[]) =>
    lines.filter((line) => !others.includes(line))
  expect({ missing: without(copy, now), added: without(now, copy) }).toEqual({ missing: [], added: [] })
  expect(now).toHaveLength(copy.length)
}

describe('the catalogue of a fresh database', () => {
  const drops: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const drop of drops) await drop()
  })

  test('on Postgres is that of the copy', async () => {
    const { url, drop } = await freshDatabase()
    drops.push(drop)
    const now = (await postgresCatalogue(url)).map(withoutOwner)
    if (process.env.UPDATE_CATALOGUES) writeFileSync(fileOf('postgres'), `${JSON.stringify(now, null, 1)}\n`)
    expectSame(now, copyOf('postgres'))
  })

  test('on MariaDB is that of the copy, with the listed renames', async ({ skip }) => {
    const server = inject('mariadbUrl')
    if (server === null) return skip('There is no MariaDB.')
    const { url, drop } = await freshMysqlDatabase(server)
    drops.push(drop)
    const version = await withMysql(url, async (client) => {
      // The one table without a collation of its own has that of the database.
      await client.query('alter database character set utf8mb4 collate utf8mb4_general_ci')
      return JSON.stringify((await client.query('select version()'))[0])
    })
    // MySQL prints the same schema in other words.
    if (!version.includes('MariaDB')) return skip('The server is MySQL.')
    await (await MysqlStore.open(url)).close()
    expectSame(await mysqlCatalogue(url), copyOf('mysql', MYSQL))
  })
})
