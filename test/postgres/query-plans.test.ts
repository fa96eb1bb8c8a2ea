import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageOfTasks } from '../../src/kinds/task/postgres/reader.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { BOARD_COLUMNS } from '../../src/views/board/columns.ts'
import { readBoard } from '../../src/views/board/postgres/board.ts'
import { tallyOf } from '../../src/views/board/postgres/tally.ts'
import { eventPage, onwardsFrom } from '../../src/views/events/postgres.ts'
import { overviewOf } from '../../src/views/overview/postgres.ts'
import { register } from '../support/agents.ts'
import { freshDatabase } from '../support/database.ts'
import { missedTasks, skipMissedTasks } from '../support/missed-tasks.ts'
import { superuser } from '../support/nodes.ts'
import { granted, grantedTasks, holder, newTask, type Task, Work } from '../support/tasks.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
beforeAll(async () => {
  database = await freshDatabase()
  await withStore(async () => undefined)
  // What autovacuum reads would be counted, too: to vacuum, and to summarize ranges of tables.
  await ask(`do $$ declare name text; begin
    for name in select relname from pg_class where relnamespace = 'baton'::regnamespace and relkind = 'r' loop
      execute format('alter table %I set (autovacuum_enabled = off)', name);
    end loop;
    for name in select c.relname from pg_class c join pg_am a on a.oid = c.relam
                 where c.relnamespace = 'baton'::regnamespace and c.relkind = 'i' and a.amname = 'brin' loop
      execute format('alter index %I set (autosummarize = off)', name);
    end loop; end $$`)
})
afterAll(() => database.drop())

const ask = (text: string) =>
  superuser(database.url, async (client) => {
    await client.query('set search_path = baton')
    return (await client.query(text)).rows
  })

/** Closed at the end: then the counts of its connections are visible to all. */
async function withStore<T>(act: (store: PostgresStore, work: Work) => Promise<T>): Promise<T> {
  const store = await PostgresStore.open(database.url)
  try {
    return await act(store, new Work(store, (await createWorkspace(store, 'test', 'test')).workspaceId))
  } finally {
    await store.close()
  }
}

test('tables that change often are vacuumed by what changed, not by a fifth of their size', async () => {
  const rows = await ask(
    `select relname as name, o.value::float as share from pg_class c
            cross join lateral unnest(c.reloptions) as r(text)
            cross join lateral (select split_part(r.text, '=', 2) as value) as o
      where c.relnamespace = 'baton'::regnamespace and r.text like 'autovacuum_vacuum_scale_factor=%'`,
  )
  const shares = new Map(rows.map(({ name, share }) => [name, share]))
  const OFTEN =
    'tasks attempts workspace_counters sessions idempotency_keys track_claims agent_health wakeups runs'
  for (const table of OFTEN.split(' ')) expect(shares.get(table), table).toBeLessThanOrEqual(0.05)
})

/** Tables that grow, and that no ordinary request may read as a whole. */
const LARGE = [
  'tasks',
  'task_details',
  'task_dependencies',
  'task_tags',
  'attempts',
  'rejected_results',
  'events',
  'idempotency_keys',
]
const MANY = 20_000

/** What was read so far of the large tables: whole scans, and entries of each index. */
async function readSoFar() {
  const of = `where schemaname = 'baton' and relname in ('${LARGE.join("', '")}')`
  const scans = await ask(`select relname as name, seq_scan::int as count from pg_stat_user_tables ${of}`)
  // For summaries of ranges, pages are counted.
  const entries = await ask(
    `select indexrelname as name, idx_tup_read::int as count from pg_stat_user_indexes ${of} and indexrelname <> 'events_of_task'`,
  )
  const counts = (rows: { name: string; count: number }[]) =>
    new Map(rows.map(({ name, count }) => [name, count]))
  return { scans: counts(scans), entries: counts(entries) }
}

/** What reads more than a share of a large table. */
async function readAtLength(act: () => Promise<void>): Promise<string[]> {
  const before = await readSoFar()
  await act()
  // Counted when a connection ends, which the server notices a moment later.
  const connected = `select from pg_stat_activity where application_name = 'baton' and datname = current_database()`
  await expect.poll(async () => (await ask(connected)).length).toBe(0)
  const { scans, entries } = await readSoFar()
  const whole = [...scans].filter(([name, count]) => count > before.scans.get(name)!)
  const long = [...entries].filter(([name, count]) => count - before.entries.get(name)! > MANY / 10)
  return [...whole, ...long].map(([name]) => name)
}

/** One of everything that is done every day. Its plans are made once, and kept. */
async function aDay(work: Work): Promise<Task> {
  const key = (what: string) => `${what} ${Math.random()}`
  const [first, second] = await work.createAll([newTask(), newTask()])
  const waiting = await work.create({}, [first!])
  const hold = granted(await work.under(key('claim')).claim(first!, holder('alpha')))
  await work.renew(first!, hold)
  await work.start(first!, hold)
  await work.progress(first!, hold, { percent: 50 })
  await work.submit(first!, hold)
  await work.unblock(waiting)
  const given = grantedTasks(await work.next(holder('beta'), { limit: 2 }))
  expect(given.length).toBeGreaterThan(0)
  for (const { id, uuid, generation } of given) {
    const [task, over] = [{ id, uuid } as never, { ...holder('beta'), generation }]
    await work.under(key('release')).release(task, over)
    // Too late: it is kept as rejected.
    await work.submit(task, over)
  }
  await work.cancel(second!)
  await assignable(work)
  return first!
}

/** What the coordinator reads after each commit, with an agent that waits for work. */
async function assignable(work: Work): Promise<void> {
  const { workspace } = work
  const { assignment } = work.store as PostgresStore
  await register(work, 'gamma', { adapterType: 'process' })
  expect(await assignment.workspaces(workspace)).toHaveLength(1)
  const reserved = await work.create({ onlyAgent: 'gamma' })
  expect((await assignment.read(workspace)).waiting.reserved.get('gamma')).toBe(1)
  await work.cancel(reserved)
  expect((await assignment.read(workspace)).waiting.reserved.size).toBe(0)
  await assignment.workspaces(workspace)
}

/** The same for reads. */
async function readAll(work: Work, first: Task): Promise<void> {
  const { workspace } = work
  const store = work.store as PostgresStore
  await work.results(first)
  await work.claims(first)
  await store.events(workspace, 0, 50)
  await store.tasks(workspace, {}, 50)
  await eventPage(store.readers, workspace, { task: first }, onwardsFrom(0), 50)
  await eventPage(
    store.readers,
    workspace,
    { types: new Set(['key_created', 'task_failed']) },
    onwardsFrom(0),
    50,
  )
  await store.sessions(workspace, { workersOnly: false, limit: 50 })
  await store.dueTasks(100)
  await store.dueSessions(100)
  await store.heldUntouchedSince(workspace, Date.now(), 100)
  await missedTasks(store, 100)
  await tallyOf(store.readers, workspace)
}

/** A workspace with very many of everything, for all that only add a little to it. */
let grown: number | undefined
async function large(): Promise<number> {
  grown ??= await withStore(async (_, work) => {
    await aDay(work)
    await grow(work.workspace)
    return work.workspace
  })
  return grown
}

test('tasks by their ids are read once each, however many, before the database knows how many there are', async () => {
  const long = await readAtLength(() =>
    withStore(async (store, work) => {
      const tasks = await work.createAll(Array.from({ length: MANY / 40 }, () => newTask()))
      const read = await store.tasksById(
        work.workspace,
        tasks.map(({ id }) => id),
      )
      expect(read).toHaveLength(tasks.length)
    }),
  )
  expect(long).toEqual([])
})

describe('ordinary work reads no large part of a large table', () => {
  test('with plans that were made while it was empty', async ({ skip }) => {
    // Before 17, ids in a list may be looked for among all of the workspace. Such a plan is remade with the next analyze.
    if ((await ask('show server_version_num'))[0].server_version_num < 170_000) skip()
    const long = await readAtLength(() =>
      withStore(async (_, work) => {
        await aDay(work)
        await grow(work.workspace)
        await aDay(work)
      }),
    )
    expect(long).toEqual([])
  })

  test('with plans that were made while it was empty, once the database has analyzed it', async () => {
    const long = await readAtLength(() =>
      withStore(async (_, work) => {
        await aDay(work)
        await grow(work.workspace)
        await ask('analyze')
        await aDay(work)
      }),
    )
    expect(long).toEqual([])
  })

  test('with plans that are made when it is large', async () => {
    const workspace = await large()
    await ask('analyze')
    const long = await readAtLength(() =>
      withStore(async (store) => {
        // Dependents follow the log: what was copied into it is not theirs to read.
        await skipMissedTasks(store)
        const work = new Work(store, workspace)
        await readAll(work, await aDay(work))
      }),
    )
    expect(long).toEqual([])
  })
})

test('a board reads the first of its finished tasks, and no whole table when it is searched for a text', async () => {
  const workspace = await large()
  await ask('vacuum (analyze)')
  const reading = (text?: string) =>
    readAtLength(() =>
      withStore(async (store) => {
        const page = { columns: BOARD_COLUMNS, after: null, limit: 51 }
        const { cards } = await readBoard(store.readers, workspace, { text }, page)
        expect(cards.length).toBeGreaterThan(50)
      }),
    )
  expect(await reading()).toEqual([])
  // Entries of indexes, for the newest 10,000; which index has them is the planner's choice.
  expect((await reading('LOGIN')).filter((name) => LARGE.includes(name))).toEqual([])
})

describe('tasks with a tag', () => {
  /** What is listed, and the plan says so: by the index of tags, and no large part of a large table. */
  async function readByTag(workspace: number, tag: string, act: (store: PostgresStore) => Promise<string[]>) {
    const index = `select idx_scan::int as scans from pg_stat_user_indexes where indexrelname = 'task_tags_pkey'`
    const [before] = await ask(index)
    let titles: string[] = []
    const long = await readAtLength(() =>
      withStore(async (store) => {
        titles = await act(store)
      }),
    )
    const [after] = await ask(index)
    expect([long, after.scans > before.scans], `${tag} of ${workspace}`).toEqual([[], true])
    return titles
  }

  test('are found by an index, in lists and on boards, however many others there are', async () => {
    const workspace = await large()
    await withStore(async (store) => {
      const work = new Work(store, workspace)
      const tagged = { title: 'Tagged', tags: ['rare', 'other'] }
      const tasks = [tagged, tagged, { ...tagged, title: 'No longer' }, { title: 'Since' }]
      const [, done, before, since] = await work.createAll(tasks.map((one) => newTask(one)))
      await work.submit(done!, granted(await work.claim(done!, holder('alpha'))))
      await work.update(before!, { tags: ['other'] })
      await work.update(since!, { tags: ['rare'] })
    })
    await ask('vacuum (analyze)')
    const titles = ['Since', 'Tagged', 'Tagged']
    const listed = await readByTag(workspace, 'rare', async (store) => {
      const { rows } = await pageOfTasks(store.readers, workspace, { tag: 'rare' }, 50, new Set())
      return rows.map(({ details }) => details.title)
    })
    expect(listed).toEqual(titles)
    const onBoard = await readByTag(workspace, 'rare', async (store) => {
      const page = { columns: BOARD_COLUMNS, after: null, limit: 51 }
      const { cards, isDoneBounded } = await readBoard(
        store.readers,
        workspace,
        { tags: { some: ['rare'], none: [] } },
        page,
      )
      expect(isDoneBounded).toBe(false)
      return cards.map(({ title }) => title).sort()
    })
    expect(onBoard).toEqual(titles)
  })

  test('cost those without tags nothing: nothing is written for them', async () => {
    const count = async () => (await ask('select count(*)::int as n from task_tags'))[0].n
    const before = await count()
    await withStore(async (_, work) => {
      const [task] = await work.createAll([newTask(), newTask()])
      await work.update(task!, { title: 'Another' })
      expect(await count()).toBe(before)
      await work.update(task!, { tags: ['a', 'b'] })
      expect(await count()).toBe(before + 2)
      await work.update(task!, { tags: [] })
      expect(await count()).toBe(before)
    })
  })
})

// The last that uses it: it moves the ends of its tasks.
test('the overview reads what its period has, however much there was before', async () => {
  const workspace = await large()
  const before = `workspace_id = ${workspace} and id > ${workspace} * 1000000`
  await ask(
    `set session_replication_role = replica; update tasks set completed_at = now() - interval '30 days' where ${before}`,
  )
  // The entries of the rows before that would be read, too.
  await ask('vacuum (analyze)')
  for (const buckets of [60, 96])
    expect(
      await readAtLength(() =>
        withStore(async (store) => {
          const read = await overviewOf(store.readers, workspace, { bucketMs: 60_000, buckets })
          // What was done in the minutes of this test, and nothing of what was copied.
          const completed = read.throughput.buckets.reduce((sum, bucket) => sum + bucket.completed, 0)
          expect(completed).toBeGreaterThan(0)
          expect(completed).toBeLessThan(MANY / 10)
        }),
      ),
    ).toEqual([])
})

/** Very many of everything: finished tasks with all that belongs to them. */
const grow = (workspace: number) =>
  superuser(database.url, async (client) => {
    // Neither checked nor counted: what this reads does not concern the test, and nothing should analyze it meanwhile.
    await client.query(
      'set search_path = baton; set session_replication_role = replica; set track_counts = off',
    )
    const copy = async (table: string, place: string, value: string, which = 'true') => {
      const { rows } = await client.query(
        `select string_agg(quote_ident(attname), ', ') as names from pg_attribute
          where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped and attname <> '${place}'`,
      )
      const { names } = rows[0]
      await client.query(
        `insert into ${table} (${place}, ${names}) select ${value}, ${names}
           from (select * from ${table} where workspace_id = ${workspace} and ${which} limit 1) one,
                generate_series(1, ${MANY}) as n`,
      )
    }
    const later = `${workspace} * 1000000 + n`
    await copy('tasks', 'id', later, `state = 'completed'`)
    await copy('task_details', 'task_id', later)
    await copy('task_dependencies', 'task_id', later)
    await client.query(
      `insert into task_tags (workspace_id, tag, task_id) select ${workspace}, 'tag ' || n % 100, ${later} from generate_series(1, ${MANY}) as n`,
    )
    await copy('attempts', 'task_id', later, `state = 'released' and hash is not null`)
    await copy('rejected_results', 'task_id', later)
    await copy('events', 'seq', later)
    await copy('idempotency_keys', 'key', `'key ' || n || ' of many'`)
  })
