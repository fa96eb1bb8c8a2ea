import { setTimeout as sleep } from 'node:timers/promises'
import type { RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { Combiner } from '../../src/kernel/combiner.ts'
import { StoreUnavailable } from '../../src/kernel/store/store.ts'
import { StartRefused } from '../../src/pure/refusal.ts'
import { type Facts, whyNotReady } from '../../stores/mysql/ready.ts'
import { MIGRATIONS } from '../../stores/mysql/schema/migrations.ts'
import { MysqlStore } from '../../stores/mysql/store.ts'
import { earlier, NO_COMPANY, until, useNodes } from '../support/nodes.ts'
import type { Reply } from '../support/replies.ts'
import { rounds } from '../support/rounds.ts'
import { canStartPrivateMariadb, startPrivateMariadb } from '../support/servers/mariadb.ts'
import { freshMysqlDatabase, withMysql } from '../support/servers/mysql-database.ts'
import type { PrivateServer } from '../support/servers/private-server.ts'
import {
  atGeneration,
  granted,
  grantedTasks,
  type Hold,
  holder,
  newTask,
  outcome,
  type Task,
  tally,
  Work,
} from '../support/tasks.ts'

const alpha = holder('alpha')
const beta = holder('beta')
const server = inject('mariadbUrl')
const canStart = await canStartPrivateMariadb()

const read = async (url: string, statement: string, values: unknown[] = []) =>
  withMysql(url, async (client) => (await client.query<RowDataPacket[]>(statement, values))[0])

/**
 * Whether a transaction waits for a row of this table, in this database. `information_schema.innodb_trx` and its kin would
 * not do: they show what was true when they were last refreshed, and while they are queried every few milliseconds they
 * never are.
 */
async function isLockAwaited(url: string, table: string): Promise<boolean> {
  const [found] = await read(url, 'show engine innodb status')
  const waits = String(found!.Status).split('FOR THIS LOCK TO BE GRANTED').slice(1)
  const name = `\`${new URL(url).pathname.slice(1)}\`.\`${table}\``
  // Each is followed by what is waited for; then comes what the transaction holds.
  return waits.some((wait) => wait.split('------------------', 1)[0]!.includes(name))
}

/** A store on a database of its own, whose URL is known. */
function useDatabase() {
  let database: { url: string; drop(): Promise<void> }
  let store: MysqlStore
  let last = 0
  beforeAll(async () => {
    database = await freshMysqlDatabase(server!)
    store = await MysqlStore.open(database.url)
  })
  afterAll(async () => {
    await store.close()
    await database.drop()
  })
  return {
    url: () => database.url,
    store: () => store,
    work: async (limits = {}) => new Work(store, await store.workspace(`own-${++last}`, limits)),
  }
}

/** Values stored in two places are equal in both. */
async function expectAgreement(url: string) {
  const contradictions = {
    'waiting, but not queued': `select 1 from baton_waiting w join baton_tasks t on t.workspace_id = w.workspace_id and t.id = w.task_id
      where t.state <> 'queued' or t.queue_rank <> w.queue_rank`,
    'queued, but not waiting': `select 1 from baton_tasks t left join baton_waiting w on t.workspace_id = w.workspace_id and t.id = w.task_id
      where t.state = 'queued' and w.task_id is null`,
    'waiting twice': 'select 1 from baton_waiting group by workspace_id, task_id having count(*) > 1',
    'held, but not active': `select 1 from baton_held h join baton_tasks t on t.workspace_id = h.workspace_id and t.id = h.task_id
      where t.claim_state <> 'active' or t.generation <> h.generation`,
    'active, but not held': `select 1 from baton_tasks t left join baton_held h on t.workspace_id = h.workspace_id and t.id = h.task_id
      where t.claim_state = 'active' and h.task_id is null`,
    'claims other than 1 to generation': `select 1 from baton_tasks t left join baton_claims c on t.workspace_id = c.workspace_id and t.id = c.task_id
      group by t.workspace_id, t.id, t.generation having count(c.generation) <> t.generation or max(c.generation) <> t.generation`,
    'a different claim': `select 1 from baton_tasks t join baton_claims c on t.workspace_id = c.workspace_id and t.id = c.task_id
      and t.generation = c.generation where c.state <> t.claim_state`,
    'miscounted claims': `select 1 from baton_counters n where n.active_claims <>
      (select count(*) from baton_held h where h.workspace_id = n.workspace_id)`,
    'miscounted sessions': `select 1 from baton_counters n where n.active_sessions <>
      (select count(*) from baton_sessions s where s.workspace_id = n.workspace_id and s.declared = 1 and s.state in ('active', 'draining'))`,
    'holders of tracks that hold nothing': `select 1 from baton_track_holders k left join baton_held h
      on h.workspace_id = k.workspace_id and h.task_id = k.task_id where h.task_id is null`,
    'gaps in the log': `select 1 from baton_counters n where n.last_seq <>
      (select count(*) from baton_events e where e.workspace_id = n.workspace_id)`,
  }
  for (const [what, statement] of Object.entries(contradictions))
    expect((await read(url, statement)).length, what).toBe(0)
}

describe('a server', () => {
  const good: Facts = {
    version: '10.11.6-MariaDB',
    variables: new Map([
      ['innodb_flush_log_at_trx_commit', '1'],
      ['log_bin', 'OFF'],
      ['read_only', 'OFF'],
      ['max_allowed_packet', '16777216'],
    ]),
    hasInnodb: true,
    otherEngines: [],
  }
  const but = (variables: Record<string, string>, more: Partial<Facts> = {}): Facts => ({
    ...good,
    ...more,
    variables: new Map([...good.variables, ...Object.entries(variables)]),
  })

  test.each([
    '10.6.0-MariaDB',
    '5.5.5-10.11.6-MariaDB-log',
    '11.8.2-MariaDB-ubu2404',
    '8.0.22',
    '8.0.46-0ubuntu0.22.04.5',
    '8.4.2',
    '9.1.0-commercial',
  ])('of version %s is new enough', (version) => expect(whyNotReady({ ...good, version })).toBeNull())

  test.each([
    ['10.5.23-MariaDB', 'Baton needs MariaDB 10.6 or newer; this is 10.5.23-MariaDB.'],
    ['5.5.5-10.3.39-MariaDB-log', 'Baton needs MariaDB 10.6 or newer; this is 5.5.5-10.3.39-MariaDB-log.'],
    ['5.5.68-MariaDB', 'Baton needs MariaDB 10.6 or newer; this is 5.5.68-MariaDB.'],
    ['8.0.21', 'Baton needs MySQL 8.0.22 or newer; this is 8.0.21.'],
    ['5.7.44-log', 'Baton needs MySQL 8.0.22 or newer; this is 5.7.44-log.'],
  ])('of version %s is too old', (version, why) => expect(whyNotReady({ ...good, version })).toBe(why))

  test.each([
    ['without InnoDB', but({}, { hasInnodb: false }), 'InnoDB'],
    ['with a table of ours in MyISAM', but({}, { otherEngines: ['baton_tasks'] }), 'baton_tasks'],
    ['that is read-only', but({ read_only: 'ON' }), 'read-only'],
    ['that is a super read-only replica', but({ super_read_only: '1' }), 'read-only'],
    [
      'that flushes once a second',
      but({ innodb_flush_log_at_trx_commit: '0' }),
      'innodb_flush_log_at_trx_commit',
    ],
    ['that leaves its log to the system', but({ innodb_flush_log_at_trx_commit: '2' }), 'acknowledged work'],
    [
      'of MySQL with the value 3',
      but({ innodb_flush_log_at_trx_commit: '3' }, { version: '8.4.0' }),
      'innodb_flush_log_at_trx_commit',
    ],
    ['whose binary log is not synced', but({ log_bin: 'ON', sync_binlog: '0' }), 'sync_binlog'],
    [
      'that logs statements',
      but({ log_bin: 'ON', sync_binlog: '1', binlog_format: 'STATEMENT' }),
      'binlog_format',
    ],
    ['of a Galera cluster', but({ wsrep_on: 'ON' }), 'Galera'],
    ['with tiny packets', but({ max_allowed_packet: '65536' }), 'max_allowed_packet'],
  ])('%s is refused with one sentence', (_what, facts, says) => {
    const why = whyNotReady(facts)
    expect(why).toContain(says)
    expect(why).toMatch(/^[A-Z].*\.$/)
    expect(why!.match(/\. /g), 'one sentence').toBeNull()
  })

  test('of MariaDB that syncs at prepare too, and one that logs rows and syncs them, are accepted', () => {
    expect(whyNotReady(but({ innodb_flush_log_at_trx_commit: '3' }))).toBeNull()
    expect(whyNotReady(but({ log_bin: 'ON', sync_binlog: '1', binlog_format: 'ROW' }))).toBeNull()
  })

  test.each([
    ['postgres://127.0.0.1/baton', 'The database URL must be like'],
    ['mysql://127.0.0.1', 'The database URL must be like'],
    ['mysql://root:secret@127.0.0.1:9/baton', 'The database cannot be used (mysql://127.0.0.1:9/baton)'],
  ])('cannot be opened at %s', async (url, says) => {
    const error = await MysqlStore.open(url).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(StartRefused)
    expect((error as Error).message).toContain(says)
    expect((error as Error).message).not.toContain('secret')
  })
})

describe.skipIf(server === null)('a database', () => {
  let database: Awaited<ReturnType<typeof freshMysqlDatabase>>
  beforeAll(async () => {
    database = await freshMysqlDatabase(server!)
  })
  afterAll(() => database.drop())

  test('is set up once when several nodes start at once, under either name of the protocol', async () => {
    const stores = await Promise.all(
      [database.url, database.url, database.url.replace('mysql:', 'mariadb:')].map((url) =>
        MysqlStore.open(url),
      ),
    )
    const [one, two] = await Promise.all(stores.map((store) => store.workspace('same')))
    expect(one).toBe(two)
    await Promise.all(stores.map((store) => store.close()))
    expect(await read(database.url, 'select version from baton_schema')).toHaveLength(MIGRATIONS.length)
  })

  test('that is newer than this Baton is refused', async () => {
    await read(database.url, `insert into baton_schema values (999, '0999_later', 'x', 0)`)
    const opening = MysqlStore.open(database.url)
    await expect(opening).rejects.toThrow(StartRefused)
    await expect(opening).rejects.toThrow(
      'The database is newer than this Baton: it has 0999_later, which this version does not know; start a newer Baton, or restore a backup from before the upgrade.',
    )
    await read(database.url, 'delete from baton_schema where version = 999')
  })

  test('of an earlier, unreleased version is refused, and nothing is created in it', async () => {
    const earlier = await freshMysqlDatabase(server!)
    try {
      await read(
        earlier.url,
        `create table baton_schema (version int not null primary key, name varbinary(200) not null,
           checksum varbinary(64) not null, applied_at bigint not null) engine=InnoDB`,
      )
      await read(
        earlier.url,
        `insert into baton_schema values (1, '0001_foundation', 'x', 0), (2, '0002_coordination', 'x', 0)`,
      )
      const opening = MysqlStore.open(earlier.url)
      await expect(opening).rejects.toThrow(StartRefused)
      await expect(opening).rejects.toThrow(
        'The database was made by an earlier, unreleased version of Baton (it has 0001_foundation); give this version an empty database.',
      )
      expect(await read(earlier.url, 'show tables')).toHaveLength(1)
    } finally {
      await earlier.drop()
    }
  })

  test('that was set up otherwise is refused', async () => {
    await read(database.url, `update baton_schema set checksum = 'another'`)
    await expect(MysqlStore.open(database.url)).rejects.toThrow(
      'The database was set up with another 0001_tables than this Baton has.',
    )
  })
})

describe.skipIf(server === null)('names', () => {
  const { work: newWork, store, url } = useDatabase()
  const ALIKE = ['a', 'A', 'a ', 'á', 'a\t', 'ａ']

  test('that look alike are different sessions', async () => {
    const work = await newWork({ maxActiveSessions: 100 })
    for (const [i, name] of ALIKE.entries()) await work.register(name, i + 1)
    for (const [i, name] of ALIKE.entries())
      expect(await work.store.session(work.workspace, name)).toMatchObject({ name, capacity: i + 1 })
    await work.session('a', { kind: 'drain' })
    expect(await work.store.session(work.workspace, 'a')).toMatchObject({ state: 'draining' })
    expect(await work.store.session(work.workspace, 'a ')).toMatchObject({ state: 'active' })
    // Only its own holder may write.
    const task = await work.create()
    const hold = granted(await work.claim(task, holder('agent', 'A')))
    expect(outcome(await work.renew(task, { ...hold, session: 'a ' }))).toBe('SESSION_MISMATCH')
    expect(outcome(await work.renew(task, { ...hold, session: 'A ' }))).toBe('SESSION_MISMATCH')
    expect(outcome(await work.session('a ', { kind: 'end', reason: 'done' }))).toBe('DONE')
    expect((await work.record(task)).claimState).toBe('active')
  })

  test('that look alike are different agents that tasks are reserved for', async () => {
    const work = await newWork()
    for (const agent of ALIKE) await work.create({ onlyAgent: agent })
    for (const agent of ALIKE)
      expect(
        grantedTasks(await work.next(holder(agent), { limit: 10 })).map(({ onlyAgent }) => onlyAgent),
      ).toEqual([agent])
  })

  test('that look alike are different task keys, idempotency keys, capabilities, projects and workspaces', async () => {
    const work = await newWork()
    for (const key of ALIKE) expect(outcome(await work.tryCreate([newTask({ key })]))).toBe('CREATED')
    expect(outcome(await work.tryCreate([newTask({ key: 'a ' })]))).toBe('ALREADY_EXISTS')
    const made = await Promise.all(ALIKE.map((key) => work.under(key).create({ title: key })))
    expect(new Set(made.map(({ id }) => id)).size).toBe(ALIKE.length)
    expect((await work.under('a ').create({ title: 'a ' })).id).toBe(made[2]!.id)
    const own = await newWork()
    for (const one of ALIKE) await own.create({ capabilities: [one] })
    expect(grantedTasks(await own.next(alpha, { limit: 10, capabilities: ['a '] }))).toMatchObject([
      { capabilities: ['a '] },
    ])
    const projects = await Promise.all(ALIKE.map((slug) => store().project(own.workspace, slug)))
    expect(new Set(projects).size).toBe(ALIKE.length)
    const workspaces = await Promise.all(ALIKE.map((name) => store().workspace(name)))
    expect(new Set(workspaces).size).toBe(ALIKE.length)
    expect(await store().workspace('a ')).toBe(workspaces[2])
  })

  const ODD = [
    '👩‍👩‍👧‍👦',
    '\u{1F600}'.repeat(40),
    "?' or 1=1; -- ",
    "\\'; drop table baton_tasks; -- ",
    "\\\\'; rollback; -- ",
    "/*! drop table baton_tasks */ '",
    "x'41'",
    '"; \u2028\u200b\ufeff',
    '%_?:name@@',
    '\u0001\u001a\u007f\b',
  ]
  test.each(ODD)('may be any text: %j', async (odd) => {
    const work = await newWork()
    const task = await work.under(odd).create({ title: odd, input: { [odd]: odd }, tags: [odd], userId: odd })
    const hold = granted(await work.claim(task, holder(odd, odd)))
    await work.progress(task, hold, { step: odd, checkpoint: [odd] })
    await work.submit(task, hold, { [odd]: odd }, odd)
    expect(await work.record(task)).toMatchObject({ agent: odd, session: odd, state: 'completed' })
    expect(await work.details(task)).toMatchObject({
      title: odd,
      input: { [odd]: odd },
      tags: [odd],
      progressStep: odd,
      checkpoint: [odd],
    })
    expect(await work.results(task)).toMatchObject([{ data: { [odd]: odd }, summary: odd, session: odd }])
    expect(await work.store.tasks(work.workspace, { userId: odd }, 10)).toHaveLength(1)
    expect((await work.events()).map(({ actor }) => actor)).toContain(`agent:${odd}`)
  })

  test('that are too long are refused, not cut, and nothing of the request is stored', async () => {
    const work = await newWork()
    const task = await work.create()
    const before = (await work.events()).length
    const long = 'x'.repeat(601)
    await expect(work.claim(task, holder('agent', long))).rejects.toThrow('too long')
    await expect(work.register(long, 1)).rejects.toThrow('too long')
    await expect(work.under('k'.repeat(1001)).create()).rejects.toThrow('too long')
    await expect(work.create({ onlyAgent: long })).rejects.toThrow('too long')
    expect((await work.events()).length).toBe(before)
    const fits = 'é'.repeat(300)
    expect(granted(await work.claim(task, holder('agent', fits))).session).toBe(fits)
    await expectAgreement(url())
  })
})

describe.skipIf(server === null)('a transaction', () => {
  const { work: newWork, store, url } = useDatabase()

  test('that waited for a task past the end of its lease judges by the clock after the lock', async () => {
    const work = await newWork()
    await withMysql(url(), async (blocker) => {
      for (let leaseMs = 500; ; leaseMs *= 2) {
        const task = await work.create()
        const hold = granted(await work.claim(task, alpha, { leaseMs }))
        await blocker.query('start transaction')
        await blocker.query('select 1 from baton_tasks where workspace_id = ? and id = ? for update', [
          work.workspace,
          task.id,
        ])
        const renewal = work.renew(task, hold)
        await until(() => isLockAwaited(url(), 'baton_tasks'))
        const { leaseExpiresAt } = await work.record(task)
        const wasInTime = Date.now() < leaseExpiresAt! - 50
        await until(async () => Date.now() > leaseExpiresAt! + 50)
        await blocker.query('commit')
        expect(outcome(await renewal)).toBe('ALREADY_EXPIRED')
        // Only a renewal that began in time shows anything; on a slow machine use a longer lease.
        if (wasInTime) break
      }
    })
  })

  test('waits for no row but its own', { timeout: 8_000 }, async () => {
    const work = await newWork()
    const [mine, yours, held] = await work.createAll([newTask(), newTask(), newTask()])
    const project = await store().project(work.workspace, 'p')
    await store().setTrack(work.workspace, project, 'A', 5)
    const onTrack = await work.create({ key: 'A-001-x', projectId: project })
    await work.register('worker', 5)
    await work.claim(held!, beta)
    await withMysql(url(), async (blocker) => {
      // Rows on either side of it, in each table that it changes; the server waits ten seconds for a lock.
      await blocker.query('start transaction')
      const lock = (statement: string, values: unknown[]) => blocker.query(`${statement} for update`, values)
      await lock('select 1 from baton_tasks where workspace_id = ? and id = ?', [work.workspace, yours!.id])
      await lock('select 1 from baton_held where workspace_id = ? and task_id = ?', [
        work.workspace,
        held!.id,
      ])
      await lock('select 1 from baton_claims where workspace_id = ? and task_id = ? and generation = 1', [
        work.workspace,
        held!.id,
      ])
      const [places] = await blocker.query<RowDataPacket[]>('select * from baton_waiting where task_id = ?', [
        yours!.id,
      ])
      const { queue_id, queue_rank } = places[0]!
      await lock(
        'select 1 from baton_waiting where workspace_id = ? and queue_id = ? and queue_rank = ? and task_id = ?',
        [work.workspace, queue_id, queue_rank, yours!.id],
      )
      const hold = granted(await work.claim(mine!, alpha))
      await work.renew(mine!, hold)
      await work.release(mine!, hold)
      // The locked one is passed over.
      const [next] = grantedTasks(await work.next(holder('gamma', 'worker'), { projectId: 0 }))
      expect(next).toMatchObject({ id: mine!.id })
      await work.submit(mine!, atGeneration(holder('gamma', 'worker'), 2))
      await work.release(onTrack, granted(await work.claim(onTrack, alpha)))
      await work.session('worker', { kind: 'end', reason: 'done' })
      await blocker.query('rollback')
    })
    await expectAgreement(url())
  })

  test('of 10,000 tasks is one transaction, and all of them are stored', async () => {
    const work = await newWork({ maxConcurrentClaims: 20_000 })
    const wanted = Array.from({ length: 10_000 }, (_, i) =>
      newTask({ title: `Task ${i}`, priority: (i % 10) + 1 }),
    )
    const tasks = await work.under('all').createAll(wanted)
    expect(tasks).toHaveLength(10_000)
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(10_000)
    expect((await work.events()).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 10_000 }, (_, i) => i + 1),
    )
    expect(await work.under('all').createAll(wanted), 'requested again').toEqual(tasks)
    const taken = tasks.slice(0, rounds(300, 10_000))
    const claims = await Promise.all(taken.map((task) => work.claim(task, alpha)))
    expect(tally(claims)).toEqual({ GRANTED: taken.length })
    const results = await Promise.all(
      taken.map((task, i) => work.submit(task, atGeneration(alpha, 1), { i })),
    )
    expect(tally(results)).toEqual({ ACCEPTED: taken.length })
    await expectAgreement(url())
  })

  test('reads a few tasks of every track queue, however many there are', async () => {
    const work = await newWork({ maxConcurrentClaims: 1_000 })
    const projects = await Promise.all(
      Array.from({ length: 40 }, (_, i) => store().project(work.workspace, `p${i}`)),
    )
    const tracks = ['A', 'B', 'C']
    await work.createAll(
      projects.flatMap((projectId) =>
        tracks.flatMap((track) => [1, 2].map((n) => newTask({ projectId, key: `${track}-00${n}-x` }))),
      ),
    )
    const given = grantedTasks(await work.next(alpha, { limit: 40 }))
    expect(new Set(given.map(({ projectId }) => projectId)).size, 'one of each project').toBe(40)
  })

  test('puts a task in a queue that another node has deleted', async () => {
    const work = await newWork()
    granted(await work.claim(await work.create(), alpha))
    await read(url(), 'update baton_queues set made_at = 0 where workspace_id = ?', [work.workspace])
    const other = await MysqlStore.open(url())
    await other.applyRetention()
    await other.close()
    const queues = 'select 1 from baton_queues where workspace_id = ?'
    expect(await read(url(), queues, [work.workspace]), 'forgotten').toHaveLength(0)
    const task = await work.create()
    expect(grantedTasks(await work.next(alpha))).toMatchObject([{ id: task.id }])
  })
})

describe.skipIf(server === null)('upkeep', () => {
  const { work: newWork, store, url } = useDatabase()
  const due = async (work: Work) =>
    (await store().dueTasks(100))
      .filter(({ workspaceId }) => workspaceId === work.workspace)
      .map(({ taskId }) => taskId)

  test('finds an expired lease behind a page of renewed ones', async () => {
    const work = await newWork()
    const ago = (ms: number) => work.through(new Combiner(earlier(store(), ms)))
    for (const task of await work.createAll(Array.from({ length: 5 }, () => newTask()))) {
      const hold = granted(await ago(60_000).claim(task, alpha, { leaseMs: 30_000 }))
      await ago(40_000).renew(task, hold, 600_000)
    }
    const behind = await work.create()
    granted(await ago(25_000).claim(behind, alpha, { leaseMs: 10_000 }))
    expect((await store().dueTasks(3)).map(({ taskId }) => taskId)).toEqual([behind.id])
    await work.elapse(behind)
    await work.cancel(behind)
  })

  test('finds an expired lease, not a renewed one, and the next one even if it is shorter', async () => {
    const work = await newWork()
    const ago = (ms: number) => work.through(new Combiner(earlier(store(), ms)))
    const [over, renewed] = await work.createAll([newTask(), newTask()])
    granted(await ago(60_000).claim(over!, alpha, { leaseMs: 10_000 }))
    const hold = granted(await ago(60_000).claim(renewed!, alpha, { leaseMs: 30_000 }))
    await ago(40_000).renew(renewed!, hold, 600_000)
    expect(await due(work)).toEqual([over!.id])
    await work.release(renewed!, hold)
    granted(await ago(20_000).claim(renewed!, beta, { leaseMs: 10_000 }))
    expect(new Set(await due(work))).toEqual(new Set([over!.id, renewed!.id]))
  })

  test('deletes old first answers, old claims but each newest, and lost claims never asked about', async () => {
    const work = await newWork({ claimHistoryRetentionDays: 1 })
    const task = await work.under('old').create()
    for (let i = 0; i < 3; i++) await work.release(task, granted(await work.claim(task, alpha)))
    await work.pause(await work.create()).then(() => undefined)
    const lost = await work.create()
    await work.claim(lost, alpha)
    await work.cancel(lost)
    const days = 8 * 86_400_000
    await read(url(), 'update baton_replies set created_at = created_at - ?', [days])
    await read(url(), 'update baton_claims set ended_at = ended_at - ? where ended_at > 0', [days])
    await read(url(), 'update baton_lost_claims set ended_at = ended_at - ?', [days])
    await store().applyRetention()
    expect((await work.claims(task)).map(({ generation }) => generation)).toEqual([3])
    expect(await work.record(task)).toMatchObject({ generation: 3, session: alpha.session })
    expect(await read(url(), 'select 1 from baton_lost_claims')).toHaveLength(0)
    expect((await work.under('old').create()).id, 'a new request').not.toBe(task.id)
  })

  test('is notified of what another process commits, and of its own at once', async () => {
    const work = await newWork()
    const other = await MysqlStore.open(url())
    const heard: number[] = []
    const stop = other.onCommit(
      (workspaceId, { events }) => workspaceId === work.workspace && heard.push(events),
    )
    await sleep(100)
    await work.createAll([newTask(), newTask()])
    await until(async () => heard.length > 0)
    expect(heard).toEqual([2])
    await new Work(other, work.workspace).create()
    expect(heard, 'at once').toEqual([2, 1])
    await sleep(600)
    expect(heard, 'and once').toEqual([2, 1])
    stop()
    await work.create()
    await sleep(400)
    expect(heard, 'no one listens').toEqual([2, 1])
    await other.close()
  })
})

describe.skipIf(server === null)('two stores that race', () => {
  const nodes = useNodes('mysql')

  test('never grant a task twice, and no deadlock reaches a caller, in hundreds of races', {
    timeout: 120_000,
  }, async () => {
    const database = await freshMysqlDatabase(server!)
    const stores = await Promise.all([MysqlStore.open(database.url), MysqlStore.open(database.url)])
    const workspace = await stores[0].workspace('race', { maxConcurrentClaims: 40, maxActiveSessions: 100 })
    const [here, there] = stores.map((store) => new Work(store, workspace, new Combiner(store, NO_COMPANY)))
    const project = await stores[0].project(workspace, 'p')
    await stores[0].setTrack(workspace, project, 'A', 2)
    const tasks = await here!.createAll(
      Array.from({ length: 30 }, (_, i) =>
        newTask(
          i % 3 === 0
            ? { projectId: project, key: `A-001-t${i}` }
            : { onlyAgent: i % 5 === 1 ? 'agent-1' : null },
        ),
      ),
    )
    const sessions = ['w0', 'w1', 'w2', 's3', 's4', 's5']
    for (const name of sessions.slice(0, 3)) await here!.register(name, 4)
    const byUuid = new Map(tasks.map((task) => [task.uuid, task]))
    const grants = new Set<string>()
    interface Claim extends Hold {
      taskId: string
    }
    const claimsOf = (reply: Reply): Claim[] => {
      if (!reply.ok) return []
      const many = reply.claims as { claim: Claim }[] | undefined
      return many?.map(({ claim }) => claim) ?? [reply.claim as Claim]
    }
    const PASSES = rounds(4, 20)
    let asked = 0
    const worker = async (n: number) => {
      const work = n % 2 ? here! : there!
      for (let i = 0; i < PASSES; i++) {
        const by = holder(`agent-${(n + i) % 4}`, sessions[(n * 7 + i) % sessions.length])
        const task = tasks[(n * 11 + i * 7) % tasks.length]!
        const replies = await Promise.all([
          work.claim(task, by),
          work.next(by, { limit: 2 }),
          work.session(by.session, { kind: i % PASSES === PASSES - 1 ? 'drain' : 'heartbeat' }),
        ])
        if (i % PASSES === PASSES - 1) await work.register(by.session, 4)
        asked += replies.length
        for (const claim of [...claimsOf(replies[0]), ...claimsOf(replies[1])]) {
          const name = `${claim.taskId}/${claim.generation}`
          expect(grants.has(name), `${name} was granted twice`).toBe(false)
          grants.add(name)
          const own = byUuid.get(claim.taskId)!
          asked += 1
          if (i % 3 > 0) await work.release(own, claim)
          else if ((await work.submit(own, claim, { n, i })).ok) await work.reset(own)
        }
      }
    }
    // Any rejection fails the test: whatever races were lost, each request gets an answer.
    await Promise.all(Array.from({ length: 16 }, (_, n) => worker(n)))
    expect(asked).toBeGreaterThan(50 * PASSES)
    expect(grants.size).toBeGreaterThan(7 * PASSES)
    await expectAgreement(database.url)
    await Promise.all(stores.map((store) => store.close()))
    await database.drop()
  })

  test('lose no change to a task that both make at once', async () => {
    const [here, there] = await nodes.pair({}, NO_COMPANY)
    const task = await here.create()
    const priorities = Array.from({ length: 60 }, (_, i) => (i % 10) + 1)
    const replies = await Promise.all(
      priorities.map((priority, i) => (i % 2 ? here : there).update(task, { priority })),
    )
    expect(tally(replies)).toEqual({ DONE: 60 })
    expect((await here.record(task)).version).toBe(61)
    const waiting = grantedTasks(await here.next(alpha, { limit: 2 }))
    expect(
      waiting.map(({ id }) => id),
      'it is in one place',
    ).toEqual([task.id])
  })

  test('write a log without gaps, in the order of their commits', async () => {
    const [here, there] = await nodes.pair({ maxConcurrentClaims: 1_000 }, NO_COMPANY)
    const tasks = await here.createAll(Array.from({ length: 200 }, () => newTask()))
    let isDone = false
    const writing = Promise.all(
      tasks.map(async (task, i) => {
        const [work, by] = [i % 2 ? here : there, holder(`agent-${i % 9}`)]
        await work.submit(task, granted(await work.claim(task, by)))
      }),
    ).finally(() => {
      isDone = true
    })
    let last = 0
    while (!isDone) {
      const page = await there.store.events(there.workspace, last, 1_000)
      for (const { seq } of page) expect(seq).toBe(++last)
    }
    await writing
    expect((await here.events()).length).toBe(600)
  })

  test('open no more sessions than a workspace may have', async () => {
    const [here, there] = await nodes.pair({ maxActiveSessions: 5 }, NO_COMPANY)
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, i) => (i % 2 ? here : there).register(`worker-${i}`, 1)),
    )
    expect(tally(replies)).toEqual({ DONE: 5, LIMIT_REACHED: 35 })
    expect((await here.store.counts(here.workspace)).activeSessions).toBe(5)
  })

  test('admit no more agents on a track than its limit', async () => {
    const [here, there] = await nodes.pair({ maxConcurrentClaims: 100 }, NO_COMPANY)
    const project = await here.store.project(here.workspace, 'p')
    await here.store.setTrack(here.workspace, project, 'B', 2)
    const tasks = await here.createAll(
      Array.from({ length: 20 }, (_, i) => newTask({ projectId: project, key: `B-001-t${i}` })),
    )
    const replies = await Promise.all(
      tasks.map((task, i) => (i % 2 ? here : there).claim(task, holder(`agent-${i}`))),
    )
    expect(tally(replies)).toEqual({ GRANTED: 2, TRACK_FULL: 18 })
  })

  test('open one new session once, and neither undoes the other’s changes', async () => {
    for (let round = 0; round < rounds(5, 20); round++) {
      const [here, there] = await nodes.pair({}, NO_COMPANY)
      await Promise.all([here.register('same', 3), there.session('same', { kind: 'touch', agent: 'beta' })])
      expect(await here.store.session(here.workspace, 'same')).toMatchObject({ capacity: 3, declared: true })
      expect((await here.events()).filter(({ type }) => type === 'session_started')).toHaveLength(1)
    }
  })
})

describe.skipIf(!canStart)('a server of its own', () => {
  const started: PrivateServer[] = []
  const start = async (...args: string[]) => {
    const own = await startPrivateMariadb(args)
    started.push(own)
    return own
  }
  afterAll(async () => {
    for (const own of started) await own.stop()
  })

  test('that does not flush each commit is refused, and nothing is set up in it', async () => {
    const own = await start('--innodb-flush-log-at-trx-commit=2')
    const database = await freshMysqlDatabase(own.url)
    const opening = MysqlStore.open(database.url)
    await expect(opening).rejects.toThrow(StartRefused)
    await expect(opening).rejects.toThrow('innodb_flush_log_at_trx_commit = 2')
    expect(await read(database.url, 'show tables')).toHaveLength(0)
  })

  test('with other settings and small packets works nevertheless', async () => {
    const own = await start(
      '--max-allowed-packet=1M',
      '--sql-mode=ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT',
      '--transaction-isolation=SERIALIZABLE',
      '--default-time-zone=-09:30',
      '--character-set-server=latin1',
      '--collation-server=latin1_swedish_ci',
      '--autocommit=0',
    )
    const database = await freshMysqlDatabase(own.url)
    const store = await MysqlStore.open(database.url)
    const work = new Work(store, await store.workspace('w'))
    const task = await work.create({ title: 'ünïcödé \\ \' " 👍', description: 'é\\n'.repeat(20_000) })
    expect(await work.details(task)).toMatchObject({
      title: 'ünïcödé \\ \' " 👍',
      description: 'é\\n'.repeat(20_000),
    })
    expect(Math.abs(task.createdAt - Date.now())).toBeLessThan(60_000)

    const hold = granted(await work.claim(task, alpha))
    const other = await work.create()
    const before = (await work.events()).length
    // In one batch with another, which does not fail with it.
    const settled = await Promise.allSettled([
      work.submit(task, hold, { text: 'x'.repeat(1_500_000) }),
      work.claim(other, alpha),
    ])
    expect(settled).toMatchObject([
      { status: 'rejected', reason: { refusal: { code: 'BODY_TOO_LARGE' } } },
      { status: 'fulfilled', value: { ok: true } },
    ])
    expect((await work.events()).length).toBe(before + 1)
    expect(await work.results(task)).toEqual([])
    const text = '\\\'"é'.repeat(60_000)
    expect(outcome(await work.submit(task, hold, { text }))).toBe('ACCEPTED')
    expect(await work.results(task)).toMatchObject([{ data: { text } }])
    await work.createAll(Array.from({ length: 10_000 }, () => newTask({ title: 'é'.repeat(100) })))
    expect((await work.events()).length).toBe(before + 10_002)
    await store.close()
  })

  test('loses no acknowledged write when it is killed, and the same store reconnects', {
    timeout: 120_000,
  }, async () => {
    const own = await start()
    const database = await freshMysqlDatabase(own.url)
    const store = await MysqlStore.open(database.url)
    const workspace = await store.workspace('w', { maxConcurrentClaims: 100_000 })
    const work = new Work(store, workspace)
    const acknowledged: { task: Task; generation: number }[] = []
    for (let round = 0; round < 3; round++) {
      let isOver = false
      const writer = async () => {
        while (!isOver) {
          try {
            const task = await work.create()
            acknowledged.push({ task, generation: 0 })
            const known = acknowledged.at(-1)!
            known.generation = granted(await work.claim(task, alpha)).generation
          } catch (error) {
            // The connection was cut; any other error would be a bug.
            expect(error).toBeInstanceOf(StoreUnavailable)
            isOver = true
          }
        }
      }
      const writers = Array.from({ length: 20 }, writer)
      await sleep(700)
      await own.kill9()
      await Promise.all(writers)
      await own.restart()
      await until(() => store.limits(workspace).catch(() => null))
    }
    expect(acknowledged.length).toBeGreaterThan(100)
    const kept = new Map(
      (
        await store.tasksById(
          workspace,
          acknowledged.map(({ task }) => task.id),
        )
      ).map(({ record }) => [record.id, record]),
    )
    for (const { task, generation } of acknowledged) {
      expect(kept.get(task.id)?.uuid, 'a task that was acknowledged').toBe(task.uuid)
      expect(kept.get(task.id)!.generation, 'a claim that was acknowledged').toBeGreaterThanOrEqual(
        generation,
      )
    }
    await expectAgreement(database.url)
    await own.kill9()
    await expect(work.create()).rejects.toThrow(StoreUnavailable)
    await store.close()
  })
})
