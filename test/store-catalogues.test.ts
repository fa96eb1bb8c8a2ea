import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { MysqlStore } from '../src/store/mysql/store.ts'
import { mysqlCatalogue, postgresCatalogue } from './support/catalogue.ts'
import { freshDatabase } from './support/database.ts'
import { freshMysqlDatabase, withMysql } from './support/servers/mysql-database.ts'

/**
 * The copies in test/contract are the catalogues that each store's schema should have, apart from the renames listed here: a
 * change of the schema shows there, and a change that nobody meant shows here.
 */

type Renames = readonly (readonly [before: string, now: string])[]

/** Replaced in this order. */
const POSTGRES: Renames = [
  ['tasks.line ', 'tasks.track_queue '],
  ['office', 'role'],
  ['has_beaten', 'has_heartbeat'],
  ['log_gone_at', 'log_deleted_at'],
  ['events_of_the_house', 'events_of_workspace'],
  ['of_the_house', 'cluster_scope'],
  [`'house'`, `'cluster'`],
  ['upkeep_looks', 'upkeep_reads'],
  ['upkeep_forgets', 'upkeep_deletes'],
  ['term_lasts', 'term_reads'],
  ['term_is_kept', 'term_locks'],
  ['agents_to_be_given', 'agents_assignable'],
  ['api_keys_made_by', 'api_keys_created_by'],
  ['runs_one_a_claim', 'runs_one_per_claim'],
  ['wakeups_one_waits', 'wakeups_one_queued'],
  ['wakeups_asked_once', 'wakeups_idempotency_key'],
  ['wakeups_over', 'wakeups_finished'],
  ['wakeups_taken_along', 'wakeups_coalesced'],
  // Texts inside functions.
  ['an agent is bound by something it was not', 'an agent was limited after it was read'],
  ['a terminated agent holds something', 'a terminated agent holds a claim'],
  [
    'an old plan for a join could walk the whole table for every row',
    'a cached plan for a join could scan the whole table for each row',
  ],
]

const MYSQL: Renames = [
  ['baton_tasks.line ', 'baton_tasks.track_queue '],
  ['baton_queues.line ', 'baton_queues.track_queue '],
  ['result_one_an_epoch', 'result_one_per_epoch'],
]

/** The privileges of the owner are all that the version of the server knows. */
const withoutOwner = (line: string) => line.replace(/,?postgres=\w+\/postgres/g, '')

const copyOf = (name: string, renames: Renames): string[] =>
  (
    JSON.parse(
      readFileSync(join(import.meta.dirname, 'contract', `${name}-catalogue.json`), 'utf8'),
    ) as string[]
  ).map((line) => renames.reduce((text, [before, now]) => text.replaceAll(before, now), line))

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

  test('on Postgres is that of the copy, with the listed renames', async () => {
    const { url, drop } = await freshDatabase()
    drops.push(drop)
    const now = (await postgresCatalogue(url)).map(withoutOwner)
    expectSame(now, copyOf('postgres', POSTGRES).map(withoutOwner))
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
