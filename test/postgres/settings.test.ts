import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { listAgents } from '../../src/kinds/agent/postgres/agents.ts'
import { listTracks } from '../../src/kinds/project/postgres.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { openClient } from '../../src/postgres/connection/connect.ts'
import { findDatabase } from '../../src/postgres/connection/database.ts'
import { EVERYWHERE } from '../../src/postgres/connection/session-settings.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { emptyDatabase, freshDatabase, serverUrl } from '../support/database.ts'
import { superuser } from '../support/nodes.ts'
import { granted, holder, outcome, Work } from '../support/tasks.ts'

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const act of undo.splice(0).reverse()) await act()
})

/** Settings for a database or a user that are as unlike what Baton needs as possible. */
const HOSTILE: Record<string, string> = {
  search_path: 'pg_catalog',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  default_transaction_deferrable: 'on',
  row_security: 'off',
  'baton.workspace_id': '1',
  'baton.workspace_name': 'test',
  'baton.key_hash': '00',
  'baton.scope': 'upkeep',
  statement_timeout: '1ms',
  lock_timeout: '1ms',
  idle_in_transaction_session_timeout: '1ms',
  idle_session_timeout: '1ms',
  client_encoding: 'LATIN1',
  timezone: 'Asia/Kathmandu',
  datestyle: 'SQL, DMY',
  intervalstyle: 'sql_standard',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  transform_null_equals: 'on',
  client_min_messages: 'debug5',
  jit: 'on',
  max_parallel_workers_per_gather: '8',
  plan_cache_mode: 'force_custom_plan',
  enable_bitmapscan: 'off',
  enable_hashagg: 'off',
  enable_hashjoin: 'off',
  enable_incremental_sort: 'off',
  enable_indexonlyscan: 'off',
  enable_indexscan: 'off',
  enable_material: 'off',
  enable_memoize: 'off',
  enable_mergejoin: 'off',
  enable_nestloop: 'off',
  enable_seqscan: 'off',
  enable_sort: 'off',
  enable_tidscan: 'off',
  seq_page_cost: '1000',
  random_page_cost: '0',
  cpu_tuple_cost: '1000',
  cpu_index_tuple_cost: '1000',
  cpu_operator_cost: '1000',
  effective_cache_size: '8kB',
  work_mem: '64kB',
  hash_mem_multiplier: '1',
  from_collapse_limit: '1',
  join_collapse_limit: '1',
  geqo: 'off',
  constraint_exclusion: 'on',
  cursor_tuple_fraction: '1',
  synchronous_commit: 'off',
}

const ask = (text: string) => superuser(serverUrl(), async (client) => (await client.query(text)).rows)

async function freshUrl(make = freshDatabase): Promise<string> {
  const database = await make()
  undo.push(database.drop)
  return database.url
}

const nameIn = (url: string) => new URL(url).pathname.slice(1)

/** A database with these settings, of its own or of the user in this database. */
async function hostileUrl(of: 'database' | 'user', settings = HOSTILE, make = freshDatabase) {
  const user = `user_${randomUUID().replaceAll('-', '')}`
  // After its database, in which it owns everything.
  if (of === 'user') undo.push(() => ask(`drop role ${user}`))
  const url = new URL(await freshUrl(make))
  const since17 = (await ask('show server_version_num'))[0].server_version_num >= 170_000
  let whose = `database ${nameIn(url.href)}`
  if (of === 'user') {
    url.username = user
    await ask(`create role ${user} superuser login password '${url.password || 'none'}'`)
    whose = `role ${user} in ${whose}`
  }
  const all = { ...settings, ...(since17 && settings === HOSTILE && { transaction_timeout: '1ms' }) }
  for (const [name, value] of Object.entries(all))
    await ask(`alter ${whose} set ${name} = ${name === 'search_path' ? value : `'${value}'`}`)
  return url.href
}

async function opened(url: string): Promise<PostgresStore> {
  const store = await PostgresStore.open(url)
  undo.push(() => store.close())
  return store
}

/** The settings of each kind of connection: of the four pools, of migrations and of LISTEN. */
async function settingsOn(url: string) {
  const names = [...Object.keys(HOSTILE), 'transaction_timeout']
  const settingsQuery = {
    text: `select s.name, current_setting(s.name, true) as value from unnest($1::text[]) as s(name)`,
    values: [names],
  }
  const store = await opened(url)
  const single = await openClient(await findDatabase(url), 'test')
  const [writers, readers, control, output, other] = await Promise.all(
    [store.writers, store.readers, store.control, store.output, single].map(async (connection) => {
      const { rows } = await connection.query<{ name: string; value: string }>(settingsQuery)
      return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
    }),
  )
  await single.end()
  return { writers, readers, control, output, other }
}

describe.each(['database', 'user'] as const)('whatever a %s has set', (of) => {
  test('every connection has the settings Baton relies on', async () => {
    const hostile = await settingsOn(await hostileUrl(of))
    expect(hostile).toEqual(await settingsOn(await freshUrl()))
    expect(hostile.writers).toMatchObject({
      jit: 'off',
      synchronous_commit: 'on',
      default_transaction_isolation: 'read committed',
      statement_timeout: '30s',
      lock_timeout: '10s',
      idle_in_transaction_session_timeout: '15s',
      plan_cache_mode: 'force_generic_plan',
      enable_indexscan: 'on',
      'baton.scope': '',
      default_transaction_read_only: 'off',
    })
    expect(hostile.readers).toMatchObject({ default_transaction_read_only: 'on' })
  })

  test('it is set up, work is done, and other nodes are notified', async () => {
    const url = await hostileUrl(of, HOSTILE, emptyDatabase)
    const [store, another] = [await opened(url), await opened(url)]
    const { workspaceId } = await createWorkspace(store, 'test', 'test')
    const heard = new Promise((resolve) => another.onCommit(resolve))
    const work = new Work(store, workspaceId)
    const task = await work.create()
    expect(await heard).toBe(workspaceId)
    const hold = granted(await work.claim(task, holder('alpha')))
    expect(outcome(await work.submit(task, hold, { text: 'a \\ b \u{1F600}' }))).toBe('ACCEPTED')
    expect(await work.results(task)).toMatchObject([{ data: { text: 'a \\ b \u{1F600}' } }])
  })
})

test('the hostile settings cover all that is set on every connection', () => {
  expect(Object.keys(EVERYWHERE).filter((name) => !(name in HOSTILE))).toEqual([])
  for (const [name, value] of Object.entries(EVERYWHERE)) expect(HOSTILE[name], name).not.toBe(value)
})

test('a database whose commits wait for its standbys keeps that', async () => {
  const url = await hostileUrl('database', { synchronous_commit: 'remote_apply' })
  const { settings } = await findDatabase(url)
  expect(settings.synchronous_commit).toBe('remote_apply')
  const { writers } = await settingsOn(url)
  expect(writers).toMatchObject({ synchronous_commit: 'remote_apply' })
})

describe('whatever the locale of the database', () => {
  const rows = async (url: string, text: string) =>
    superuser(url, async (client) => {
      await client.query('set search_path = baton')
      return (await client.query(text)).rows
    })

  test('text in keys and indexes is compared byte by byte', async () => {
    const others = await rows(
      await freshUrl(),
      `select i.indexrelid::regclass::text as index, a.attname as column
         from pg_index i join pg_class c on c.oid = i.indexrelid and c.relnamespace = 'baton'::regnamespace
              cross join unnest(i.indcollation) with ordinality as k(collation_oid, place)
              join pg_attribute a on a.attrelid = i.indexrelid and a.attnum = k.place
        where k.collation_oid <> 0 and k.collation_oid <> '"C"'::regcollation`,
    )
    expect(others).toEqual([])
  })

  test('lists are ordered by bytes, page by page, and nothing is left out', async () => {
    const slugs = ['a', 'B', 'b.c', 'b_c', 'b1', 'b@c', 'C', 'a-b', 'ab', 'A', 'Z', 'z']
    const byBytes = slugs.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
    const url = await freshUrl()
    const store = await opened(url)
    const { workspaceId } = await createWorkspace(store, 'test', 'test')
    await rows(
      url,
      `insert into agents (workspace_id, agent_id, slug, name)
         select ${workspaceId}, gen_random_uuid(), s, s from unnest(array['${slugs.join("','")}']) as s on conflict do nothing`,
    )
    const listed: string[] = []
    for (let after: string | undefined; ; after = listed.at(-1)) {
      const page = await listAgents(store.readers, workspaceId, { after }, 5)
      listed.push(...page.map((agent) => agent.record.slug))
      if (page.length < 5) break
    }
    expect(listed).toEqual(byBytes)

    const projectId = await store.project(workspaceId, 'project')
    for (const track of ['AB', 'a', 'B', 'A_', 'AA']) await store.setTrack(workspaceId, projectId, track, 1)
    const shown = await listTracks(store.readers, workspaceId, projectId)
    expect(shown.map(({ track }) => track)).toEqual(['AA', 'AB', 'A_', 'B', 'a'])
  })
})

test('settings in the URL do not override those Baton sets', async () => {
  const url = new URL(await freshUrl())
  const plain = await settingsOn(url.href)
  url.searchParams.set('options', '-c jit=on -c geqo_seed=0.5')
  url.searchParams.set('statement_timeout', '1')
  url.searchParams.set('application_name', 'other')
  expect(await settingsOn(url.href)).toEqual(plain)
  const store = await opened(url.href)
  const shown = `select current_user as role, current_setting('application_name') as name, current_setting('geqo_seed') as seed`
  expect((await store.readers.query(shown)).rows).toEqual([
    { role: 'baton_server', name: 'baton', seed: '0.5' },
  ])
})

test('every connection of Baton is made in one place', () => {
  const sources = resolve(import.meta.dirname, '../../src')
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  const making = files.filter((file) => /new pg\./.test(readFileSync(join(sources, file), 'utf8')))
  expect(making).toEqual(['postgres/connection/connect.ts'])
})
