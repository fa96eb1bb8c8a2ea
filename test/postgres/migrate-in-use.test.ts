import { afterEach, describe, expect, test } from 'vitest'
import { watchOf } from '../../src/kernel/store/watch-column.ts'
import { INBOX_KINDS } from '../../src/kinds/task/rules/waiting.ts'
import { findDatabase } from '../../src/postgres/connection/database.ts'
import { statementsOf } from '../../src/postgres/schema/statement-by-statement.ts'
import { StartRefused } from '../../src/pure/refusal.ts'
import { migrate as migrateDatabase, readMigrations } from '../../src/store/migrate.ts'
import { PostgresStore, SERVER_ROLE } from '../../src/store/store.ts'
import { readInbox } from '../../src/views/inbox/postgres.ts'
import { emptyDatabase } from '../support/database.ts'
import { complete, sweep } from '../support/depend-on.ts'
import { superuser } from '../support/nodes.ts'
import { Work } from '../support/tasks.ts'

/** A database that was set up by an earlier version, and is in use while it is migrated. */

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const act of undo.splice(0).reverse()) await act()
})

const OURS = readMigrations()
const migrate = async (url: string, migrations = OURS) =>
  migrateDatabase(await findDatabase(url), SERVER_ROLE, migrations)
const later = (version: number, sql: string) => ({
  ...{ version, name: `${version}_later.sql`, checksum: 'c', sql },
})

async function databaseAt(migrations = OURS): Promise<string> {
  const { url, drop } = await emptyDatabase()
  undo.push(drop)
  await migrate(url, migrations)
  return url
}

const run = (url: string, text: string) =>
  superuser(url, async (client) => {
    await client.query('set search_path = baton')
    return (await client.query(text)).rows
  })
const applied = async (url: string) =>
  (await run(url, 'select version from schema_migrations order by version')).map(({ version }) => version)
const outside = (...statements: string[]) => `-- outside a transaction\n${statements.join(';\n')};\n`

describe('a database of the first version', () => {
  test('is brought up to date, and its blocked tasks are counted when the first of their upstream tasks ends', async () => {
    const url = await databaseAt(OURS.slice(0, 1))
    await run(
      url,
      `insert into workspaces (workspace_id, uuid, name) values (7, gen_random_uuid(), 'old');
       insert into workspace_counters (workspace_id) values (7);
       insert into log_cursors (workspace_id, follower) values (7, 'dependents');
       insert into limits (workspace_id, min_lease_seconds, max_lease_seconds, max_concurrent_claims,
           max_generations_per_task, max_result_bytes, late_results) values (7, 1, 3600, 100, 100, 1000, true);
       insert into tasks (workspace_id, id, uuid, created_at, updated_at, max_retries, priority, review, state, rank,
           blocked, awaited)
         select 7, id, ('01890000-0000-7000-8000-00000000000' || id)::uuid, now(), now(), 3, 5, 'none',
                case when id < 3 then 'queued' else 'pending' end, case when id < 3 then id end, id >= 3, id < 3
           from generate_series(1, 3) id;
       insert into task_details (workspace_id, task_id, title, task_type)
         select 7, id, 'old ' || id, 'other' from generate_series(1, 3) id;
       insert into task_dependencies (workspace_id, task_id, depends_on, trigger_rule)
         values (7, 3, 1, 'all_success'), (7, 3, 2, 'all_success')`,
    )
    const store = await PostgresStore.open(url)
    undo.push(() => store.close())
    expect(await applied(url)).toEqual(OURS.map(({ version }) => version))
    const work = new Work(store, 7)
    const task = (id: number) => ({ id, uuid: `01890000-0000-7000-8000-00000000000${id}` })
    expect(await work.record(task(3))).toMatchObject({ state: 'pending', blocked: true, upstream: null })
    await complete(work, task(1))
    await sweep(store)
    expect((await work.record(task(3))).upstream).toMatchObject({ waiting: 1, succeeded: 1 })
    expect((await store.dependencies(7, 3)).map(({ kind }) => kind)).toEqual(['order', 'order'])
    await complete(work, task(2))
    await sweep(store)
    expect(await work.record(task(3))).toMatchObject({ state: 'queued', blocked: false })
  })
})

test('what waits for a person already is in the inbox of a database that is brought up to date', async () => {
  const url = await databaseAt(
    OURS.slice(
      0,
      OURS.findIndex(({ name }) => name.includes('waiting_for_people')),
    ),
  )
  await run(
    url,
    `insert into workspaces (workspace_id, uuid, name) select w, gen_random_uuid(), 'old' from generate_series(7, 8) w;
     insert into workspace_counters (workspace_id) select w from generate_series(7, 8) w;
     insert into log_cursors (workspace_id, follower) select w, 'dependents' from generate_series(7, 8) w;
     insert into tasks (workspace_id, id, uuid, created_at, updated_at, max_retries, priority, review, state, completed_at, archived_at,
         generation, claim_state, session, agent, acquired_at)
       select w, w * 10 + n, gen_random_uuid(), now(), '2026-01-01', 3, 5, 'none', state,
              case state when 'failed' then timestamptz '2026-02-02' end, case when n = 5 then now() end,
              1, 'released', 's', 'a', now()
         from generate_series(7, 8) w, unnest(array['awaiting_human', 'budget_exceeded', 'failed', 'failed', 'failed'])
              with ordinality as s(state, n);
     insert into task_details (workspace_id, task_id, title, task_type, exhausted, error)
       select workspace_id, id, 'old', 'other', case when id % 10 in (3, 5) then 'attempts' end,
              case when id % 10 = 3 then 'wrong' end from tasks`,
  )
  const store = await PostgresStore.open(url)
  undo.push(() => store.close())
  for (const workspaceId of [7, 8]) {
    const kinds = [...INBOX_KINDS]
    const { items } = await readInbox(
      store.readers,
      workspaceId,
      { kinds, missionId: null, sort: 'oldest', after: null },
      50,
    )
    expect(items.map(({ kind, num, since, reason }) => [kind, num % 10, since, reason])).toEqual([
      ['budget', 2, Date.parse('2026-01-01'), null],
      ['review', 1, Date.parse('2026-01-01'), null],
      ['dead_letter', 3, Date.parse('2026-02-02'), 'wrong'],
    ])
  }
})

test('what is stored of timers and the like passes the checks of a database that is brought up to date, and is read', async () => {
  const url = await databaseAt(
    OURS.slice(
      0,
      OURS.findIndex(({ name }) => name.includes('watch_of_tasks')),
    ),
  )
  const stored = {
    ...{
      suspectedAt: 1_700_000_000_000.5,
      childDepth: 1,
      childCount: 2,
      isOffered: true,
      pausedByMission: true,
    },
    ...{ pausedAt: 1_700_000_000_000, resultCommit: 'c0ffee', claimMetadata: { host: null }, exitCode: 1 },
    ...{ isFresh: false, asks: { question: 'Which?', options: [], askedBy: 'a', askedAt: 1 } },
  }
  await run(
    url,
    `insert into workspaces (workspace_id, uuid, name) values (7, gen_random_uuid(), 'old');
     insert into workspace_counters (workspace_id) values (7);
     insert into log_cursors (workspace_id, follower) values (7, 'dependents');
     insert into tasks (workspace_id, id, uuid, created_at, updated_at, max_retries, priority, review, state, rank, due_at, watch)
       select 7, id, ('01890000-0000-7000-8000-00000000000' || id)::uuid, now(), now(), 3, 5, 'none', 'queued', id,
              case id when 2 then now() end,
              case id when 2 then '{"preferredUntil": 1700000000000}'::json end
         from generate_series(1, 2) id;
     insert into tasks (workspace_id, id, uuid, created_at, updated_at, max_retries, priority, review, state, paused_from, watch)
       values (7, 3, '01890000-0000-7000-8000-000000000003', now(), now(), 3, 5, 'none', 'paused', 'queued', '${JSON.stringify(stored)}');
     insert into task_details (workspace_id, task_id, title, task_type) select 7, id, 'old', 'other' from tasks`,
  )
  const store = await PostgresStore.open(url)
  undo.push(() => store.close())
  const work = new Work(store, 7)
  const task = (id: number) => work.record({ id })
  expect(watchOf(await task(1))).toBeNull()
  expect(await task(2)).toMatchObject({ agentChoice: { preferredUntil: 1_700_000_000_000 }, timers: null })
  expect(watchOf(await task(3))).toEqual(stored)
  const broken = (watch: string) => run(url, `update tasks set watch = '${watch}' where id = 2`)
  for (const watch of ['{"suspectedAt": "soon"}', '{"preferredUntil": null}', '{"isOffered": "true"}', '[]'])
    await expect(broken(watch)).rejects.toThrow('tasks_watch')
})

test('tasks that have tags already are found by them in a database that is brought up to date', async () => {
  const url = await databaseAt(
    OURS.slice(
      0,
      OURS.findIndex(({ name }) => name.includes('tags_and_reports')),
    ),
  )
  await run(
    url,
    `insert into workspaces (workspace_id, uuid, name) select w, gen_random_uuid(), 'old' from generate_series(7, 8) w;
     insert into workspace_counters (workspace_id) select w from generate_series(7, 8) w;
     insert into log_cursors (workspace_id, follower) select w, 'dependents' from generate_series(7, 8) w;
     insert into tasks (workspace_id, id, uuid, created_at, updated_at, max_retries, priority, review, state, rank)
       select w, w * 10 + n, gen_random_uuid(), now(), now(), 3, 5, 'none', 'queued', n
         from generate_series(7, 8) w, generate_series(1, 3) n;
     insert into task_details (workspace_id, task_id, title, task_type, tags)
       select workspace_id, id, 'old', 'other', case id % 10 when 1 then array['blue', 'red'] when 2 then array['red'] else '{}' end
         from tasks`,
  )
  const store = await PostgresStore.open(url)
  undo.push(() => store.close())
  for (const workspaceId of [7, 8]) {
    const tagged = async (tag: string) =>
      (await store.records(workspaceId, { tag }, 50)).map(({ id }) => id - workspaceId * 10)
    expect([await tagged('red'), await tagged('blue'), await tagged('green')]).toEqual([[2, 1], [1], []])
  }
})

describe('a migration', () => {
  test('commits on its own: those before one that fails stay', async () => {
    const url = await databaseAt()
    const good = later(9000, 'create index more on workspaces (created_at)')
    const bad = later(9001, 'create index another on workspaces (created_at); select 1/0')
    await expect(migrate(url, [...OURS, good, bad])).rejects.toThrow(StartRefused)
    expect((await applied(url)).at(-1)).toBe(9000)
    expect(
      await run(url, `select to_regclass('more') is null as gone, to_regclass('another') is null as none`),
    ).toEqual([{ gone: false, none: true }])
  })

  test('outside a transaction continues after a crash, and makes an index again that was left half-made', async () => {
    const url = await databaseAt()
    await run(
      url,
      `insert into workspaces (uuid, name) select gen_random_uuid(), 'twin' from generate_series(1, 2)`,
    )
    const sql = outside(
      'alter table workspaces add column if not exists nickname text',
      'create unique index concurrently one_name on workspaces (name)',
      'create index concurrently if not exists by_nickname on workspaces (nickname)',
    )
    await expect(migrate(url, [...OURS, later(9000, sql)])).rejects.toThrow('could not create unique index')
    const indexes = () =>
      run(
        url,
        `select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
          where c.relname in ('one_name', 'by_nickname') order by 1`,
      )
    expect(await indexes()).toEqual([{ name: 'one_name', valid: false }])
    expect((await applied(url)).at(-1), 'not done yet').toBe(OURS.at(-1)!.version)
    await run(url, `update workspaces set name = uuid::text`)
    // Several nodes at once: those that wait must not keep the index from being made.
    await Promise.all([1, 2, 3].map(() => migrate(url, [...OURS, later(9000, sql)])))
    expect(await indexes()).toEqual([
      { name: 'by_nickname', valid: true },
      { name: 'one_name', valid: true },
    ])
    expect((await applied(url)).at(-1)).toBe(9000)
  })

  test('outside a transaction is part of the one transaction of a new database', async () => {
    const sql = outside('create index concurrently by_name on workspaces (name)')
    const url = await databaseAt([...OURS, later(9000, sql)])
    expect(await run(url, `select to_regclass('by_name') is null as gone`)).toEqual([{ gone: false }])
  })

  test('that waits for a lock lets others pass', async () => {
    const url = await databaseAt()
    const sql = outside('alter table tasks add column if not exists more text')
    await superuser(url, async (reader) => {
      await reader.query('begin')
      await reader.query('select count(*) from baton.tasks')
      const migrating = migrate(url, [...OURS, later(9000, sql)])
      const isWaiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%add column if not exists more%'`
      while ((await run(url, isWaiting)).length === 0);
      // It waits behind the migration, which gives up after a while.
      expect(await run(url, 'select count(*)::int as n from tasks')).toEqual([{ n: 0 }])
      expect((await applied(url)).at(-1)).toBe(OURS.at(-1)!.version)
      await reader.query('commit')
      await migrating
    })
    expect((await applied(url)).at(-1)).toBe(9000)
  })

  test('outside a transaction is split into statements, without comments, and has no function bodies', () => {
    const sql = outside('-- why; really\nalter table a\n  add column b int', 'select 1 -- one;')
    expect(statementsOf(sql)).toEqual(['alter table a\n  add column b int', 'select 1'])
    expect(() => statementsOf('create function f() as $$ select 1; $$')).toThrow('function bodies')
  })
})
