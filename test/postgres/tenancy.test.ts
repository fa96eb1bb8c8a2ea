import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SERVER_ROLE } from '../../src/store/store.ts'
import { superuser } from '../support/nodes.ts'
import { PLAIN_KINDS } from '../support/plain-kinds.ts'
import { CLUSTER_TABLES, type SeededDatabase, seededDatabase, workspaceTables } from '../support/seed.ts'

let database: SeededDatabase
let tables: string[]
/** One connection, used by all in turn, as a pool may do it. */
let pool: pg.Pool

beforeAll(async () => {
  database = await seededDatabase()
  tables = await workspaceTables(database.url)
  pool = new pg.Pool({
    connectionString: database.url,
    options: `-c role=${SERVER_ROLE} -c search_path=baton`,
    max: 1,
  })
})
afterAll(async () => {
  await pool.end()
  await database.close()
})

/** One statement in a transaction that named this workspace, or none; rolled back afterwards. */
async function asServer(
  workspace: number | null,
  sql: string,
  values: unknown[] = [],
  settings: Record<string, string> = {},
): Promise<pg.QueryResult | pg.DatabaseError> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const local = `select set_config($1, $2, true)`
    if (workspace !== null) await client.query(local, ['baton.workspace_id', String(workspace)])
    for (const setting of Object.entries(settings)) await client.query(local, setting)
    return await client.query(sql, values)
  } catch (error) {
    return error as pg.DatabaseError
  } finally {
    await client.query('rollback')
    client.release()
  }
}

const NOT_ALLOWED = { code: '42501', message: expect.stringContaining('permission denied') }
const NOT_ITS_ROW = { code: '42501', message: expect.stringContaining('row-level security') }
const count = async (workspace: number | null, table: string, where = 'true') =>
  ((await asServer(workspace, `select count(*)::int as n from ${table} where ${where}`)) as pg.QueryResult)
    .rows[0].n

async function rowOf(table: string, workspace: number): Promise<string> {
  const { rows } = await superuser(database.url, (client) =>
    client.query(`select to_jsonb(t) as row from baton.${table} t where workspace_id = $1 limit 1`, [
      workspace,
    ]),
  )
  expect(rows, `${table} has a row to show something with`).toHaveLength(1)
  return JSON.stringify(rows[0].row)
}

const copyInto = (table: string) =>
  `insert into ${table} select (jsonb_populate_record(null::${table}, $1::jsonb)).*`

describe('row-level security', () => {
  test('is on and forced for every table of the schema', async () => {
    const { rows } = await superuser(database.url, (client) =>
      client.query(
        `select relname from pg_class where relnamespace = 'baton'::regnamespace and relkind in ('r', 'p')
            and relname <> 'schema_migrations' and not (relrowsecurity and relforcerowsecurity)`,
      ),
    )
    expect(rows).toEqual([])
    expect(tables.length).toBeGreaterThanOrEqual(16)
  })

  test('shows no row of any table to a server that has named no workspace', async () => {
    for (const table of tables) {
      await rowOf(table, database.a.workspace)
      expect([table, await count(null, table)]).toEqual([table, 0])
    }
  })

  test('accepts no row from a server that has named no workspace', async () => {
    for (const table of tables) {
      const row = await rowOf(table, database.a.workspace)
      expect(await asServer(null, copyInto(table), [row]), table).toMatchObject(NOT_ITS_ROW)
    }
  })

  test('shows a workspace its own rows and no others', async () => {
    const { a, b } = database
    for (const table of tables) {
      const own = await count(a.workspace, table)
      expect(own, table).toBeGreaterThan(0)
      expect([table, await count(a.workspace, table, `workspace_id = ${b.workspace}`)]).toEqual([table, 0])
      expect([table, await count(a.workspace, table, `workspace_id = ${a.workspace}`)]).toEqual([table, own])
    }
  })

  test('accepts no row for another workspace', async () => {
    const { a, b } = database
    for (const table of tables) {
      const row = await rowOf(table, b.workspace)
      expect(await asServer(a.workspace, copyInto(table), [row]), table).toMatchObject(NOT_ITS_ROW)
    }
  })

  test('changes no row of another workspace, and moves none there', async () => {
    const { a, b } = database
    let shown = 0
    for (const table of tables) {
      const change = await asServer(
        a.workspace,
        `update ${table} set workspace_id = workspace_id where workspace_id = ${b.workspace}`,
      )
      if (change instanceof Error) {
        expect(change, table).toMatchObject(NOT_ALLOWED)
        continue
      }
      shown += 1
      expect([table, change.rowCount]).toEqual([table, 0])
      const moved = await asServer(a.workspace, `update ${table} set workspace_id = ${b.workspace}`)
      expect(moved, table).toMatchObject(NOT_ITS_ROW)
    }
    expect(shown, 'tables the server may update at all').toBeGreaterThanOrEqual(10)
  })

  test('holds on a pooled connection after another workspace has used it', async () => {
    const { a, b } = database
    const backend = async () =>
      ((await asServer(null, 'select pg_backend_pid() as pid')) as pg.QueryResult).rows[0].pid
    const before = await backend()
    expect(await count(a.workspace, 'tasks')).toBeGreaterThan(0)
    const leftover = (await asServer(
      null,
      `select current_setting('baton.workspace_id', true) as named`,
    )) as pg.QueryResult
    expect(leftover.rows, 'SET LOCAL leaves an empty string behind').toEqual([{ named: '' }])
    for (const table of tables) expect([table, await count(null, table)]).toEqual([table, 0])
    const row = await rowOf('tasks', a.workspace)
    expect(await asServer(null, copyInto('tasks'), [row])).toMatchObject(NOT_ITS_ROW)
    expect(await count(b.workspace, 'tasks', `workspace_id = ${a.workspace}`)).toBe(0)
    expect(await backend(), 'all of it on one connection').toBe(before)
  })

  test('holds for the pools of the store too: the next read does not see the workspace that the previous one named', async () => {
    const { store, a, b } = database
    for (let i = 0; i < 20; i++) {
      const [own, foreign] = await Promise.all([
        store.task(a.workspace, a.queued),
        store.task(b.workspace, a.queued),
      ])
      expect(own?.record.id).toBe(a.queued)
      expect(foreign).toBeNull()
    }
    for (const connections of [store.readers, store.writers]) {
      const { rows } = await connections.query('select count(*)::int as n from tasks')
      expect(rows).toEqual([{ n: 0 }])
    }
  })
})

describe('the server’s role', () => {
  test('cannot rewrite, delete or truncate the log, not even its own workspace’s', async () => {
    const { workspace } = database.a
    expect(await asServer(workspace, `update events set actor = 'nobody'`)).toMatchObject(NOT_ALLOWED)
    expect(await asServer(workspace, 'delete from events')).toMatchObject(NOT_ALLOWED)
    expect(await asServer(workspace, 'truncate events')).toMatchObject(NOT_ALLOWED)
  })

  /** What is deleted, and why: all else stays forever. */
  const DELETABLE: Record<string, string> = {
    idempotency_keys: 'first answers are repeated for a day',
    track_claims: 'a released task leaves its track',
    task_dependencies: 'a newer plan replaces what a task depends on',
    alert_checks: 'nothing is left that time alone would tell people',
    attempts: 'a workspace sets the retention of its history',
    agents: 'an agent that is not wanted any more is removed',
    agent_health: 'the health of an agent is deleted with it',
    agent_task_sessions: 'a person may let an agent begin afresh',
    wakeups: 'wakeups are kept for a week',
    log_cursors: 'retention does not wait for a follower that is gone',
    run_log_chunks: 'a log is kept for as long as the settings say',
    run_invocations: 'what a run was told goes with its log',
    run_messages: 'a message is kept until its run has dealt with it',
    run_log_tail: 'output for other nodes is kept for seconds',
    browser_sessions: 'a person signs out',
    sign_in_links: 'a link is valid for minutes',
    socket_tickets: 'a ticket is used once',
    budget_reservations: 'what a claim has left of it is free when it ends',
    webhook_deliveries: 'the last of each webhook are kept',
    webhook_progress: 'how far a webhook is goes with it',
    ...Object.fromEntries(
      PLAIN_KINDS.filter(({ may }) => may.includes('delete')).map(({ table }) => [table, 'its kind says so']),
    ),
  }
  test.each(Object.entries(DELETABLE))('deletes from %s, since %s, and only its own rows', async (table) => {
    const { a, b } = database
    // An attempt with a result stays.
    const own = await count(a.workspace, table, table === 'attempts' ? 'hash is null' : undefined)
    expect(own).toBeGreaterThan(0)
    expect(await asServer(a.workspace, `delete from ${table}`)).toMatchObject({ rowCount: own })
    const foreign = `delete from ${table} where workspace_id = ${b.workspace}`
    expect(await asServer(a.workspace, foreign)).toMatchObject({ rowCount: 0 })
    expect(await asServer(null, `delete from ${table}`)).toMatchObject({ rowCount: 0 })
  })

  test('deletes no attempt that has a result, of its own workspace or in upkeep', async () => {
    const { workspace } = database.a
    const withResult = 'delete from attempts where hash is not null'
    expect(await count(workspace, 'attempts', 'hash is not null')).toBeGreaterThan(0)
    expect(await asServer(workspace, withResult)).toMatchObject({ rowCount: 0 })
    expect(await asServer(null, withResult, [], { 'baton.scope': 'upkeep' })).toMatchObject({ rowCount: 0 })
  })

  test('deletes nothing else', async () => {
    for (const table of tables)
      if (!(table in DELETABLE))
        expect(await asServer(database.a.workspace, `delete from ${table}`), table).toMatchObject(NOT_ALLOWED)
  })

  test('cannot lift the policies, change the schema or become another role', async () => {
    const attempts = [
      'alter table tasks disable row level security',
      'drop policy own_workspace on tasks',
      'create table sneaky (id int)',
      'update schema_migrations set version = 99',
    ]
    for (const sql of attempts)
      expect(await asServer(database.a.workspace, sql), sql).toMatchObject({ code: '42501' })
  })

  test.each([
    ['a link', 'sign_in_links', 'link_hash'],
    ['a ticket', 'socket_tickets', 'ticket_hash'],
  ])('sees %s by its hash before it has a workspace, and no other', async (_what, table, column) => {
    const { rows } = await superuser(database.url, (client) =>
      client.query(`select encode(${column}, 'hex') as hash from baton.${table} where workspace_id = $1`, [
        database.b.workspace,
      ]),
    )
    const presented = { 'baton.key_hash': rows[0].hash }
    const seen = await asServer(null, `select workspace_id from ${table}`, [], presented)
    expect((seen as pg.QueryResult).rows).toEqual([{ workspace_id: database.b.workspace }])
    const deleted = await asServer(null, `delete from ${table}`, [], presented)
    expect((deleted as pg.QueryResult).rowCount).toBe(table === 'socket_tickets' ? 1 : 0)
  })

  test('sees a key by its hash before it has a workspace, and no other key', async () => {
    const presented = async (hash: string) =>
      (await asServer(null, 'select workspace_id from api_keys', [], {
        'baton.key_hash': hash,
      })) as pg.QueryResult
    const { rows } = await superuser(database.url, (client) =>
      client.query(`select encode(key_hash, 'hex') as hash from baton.api_keys where workspace_id = $1`, [
        database.b.workspace,
      ]),
    )
    expect((await presented(rows[0].hash)).rows).toEqual([{ workspace_id: database.b.workspace }])
    expect((await presented('00'.repeat(32))).rows).toEqual([])
    expect((await presented('')).rows).toEqual([])
  })

  test('sees a run by its token before it has a workspace, while the run is active, and no other run', async () => {
    const { b } = database
    const presented = async (hash: string) =>
      (
        (await asServer(null, 'select workspace_id, run_id from runs', [], {
          'baton.key_hash': hash,
        })) as pg.QueryResult
      ).rows
    const { rows } = await superuser(database.url, (client) =>
      client.query(`select encode(token_hash, 'hex') as hash from baton.runs where run_id = $1`, [b.running]),
    )
    const { hash } = rows[0]
    expect(await presented(hash)).toEqual([{ workspace_id: b.workspace, run_id: b.running }])
    expect(await presented('00'.repeat(32))).toEqual([])
    expect(await presented('')).toEqual([])
    const stop = `update runs set cancel_reason = 'by its own token'`
    expect(await asServer(null, stop, [], { 'baton.key_hash': hash })).toMatchObject({ rowCount: 0 })
    const seen = `select from wakeups union all select from run_events union all select from agents`
    expect(await asServer(null, seen, [], { 'baton.key_hash': hash })).toMatchObject({ rowCount: 0 })
  })

  test('sees workspaces by their name before it has one, and no others', async () => {
    const named = async (name: string) =>
      (
        (await asServer(null, 'select workspace_id, name from workspaces order by 1', [], {
          'baton.workspace_name': name,
        })) as pg.QueryResult
      ).rows
    const { a, b } = database
    expect(await named('test')).toEqual([
      { workspace_id: a.workspace, name: 'test' },
      { workspace_id: b.workspace, name: 'test' },
    ])
    for (const other of ['tes', 'TEST', '', '%']) expect(await named(other)).toEqual([])
    const renamed = `update workspaces set name = 'mine'`
    expect(await asServer(null, renamed, [], { 'baton.workspace_name': 'test' })).toMatchObject(NOT_ALLOWED)
  })

  const upkeep = { 'baton.scope': 'upkeep' }

  test('in upkeep checks workspaces where something can be due, and no others', async () => {
    const { a, b } = database
    const seen: string[] = []
    for (const table of tables) {
      const workspaces = `select distinct workspace_id as id from ${table} order by 1`
      const { rows } = (await asServer(null, workspaces, [], upkeep)) as pg.QueryResult
      if (rows.length > 0)
        expect([table, rows.map(({ id }) => id)]).toEqual([table, [a.workspace, b.workspace]])
      if (rows.length > 0) seen.push(table)
    }
    const timed = PLAIN_KINDS.filter(({ isTimed }) => isTimed).map(({ table }) => table)
    const expected = [
      ...timed,
      'agent_health',
      'agent_runtime_state',
      'agents',
      'alert_checks',
      'api_keys',
      'attempts',
      'browser_sessions',
      'events',
      'idempotency_keys',
      'limits',
      'log_cursors',
      'mission_counters',
      'missions',
      'project_counters',
      'projects',
      'routine_fires',
      'routines',
      'run_log_tail',
      'runs',
      'sessions',
      'sign_in_links',
      'socket_tickets',
      'task_dependencies',
      'tasks',
      'wakeups',
      'workspace_counters',
      'workspaces',
      ...['budget_reservations', 'usage', 'usage_quarters', 'usage_sources'],
      ...['hook_deliveries', 'hooks', 'webhook_deliveries', 'webhook_progress'],
    ]
    expect(seen).toEqual(expected.sort())
  })

  const FORGOTTEN = [
    ...['alerts', 'attempts', 'hook_deliveries', 'hooks', 'idempotency_keys', 'run_log_tail'],
    ...['browser_sessions', 'sign_in_links', 'socket_tickets'],
  ]
  test('in upkeep deletes old answers and deliveries, hooks, alerts that are over, attempts without a result, output for other nodes and sign-ins of every workspace, and nothing else', async () => {
    for (const table of tables) {
      const forgotten = await asServer(null, `delete from ${table}`, [], upkeep)
      if (FORGOTTEN.includes(table)) expect((forgotten as pg.QueryResult).rowCount, table).toBeGreaterThan(1)
      else if (table in DELETABLE) expect(forgotten, table).toMatchObject({ rowCount: 0 })
      else expect(forgotten, table).toMatchObject(NOT_ALLOWED)
    }
  })

  test('in upkeep reads every workspace and changes none', async () => {
    const seen = (await asServer(
      null,
      'select distinct workspace_id from tasks',
      [],
      upkeep,
    )) as pg.QueryResult
    expect(new Set(seen.rows.map((row) => row.workspace_id))).toEqual(
      new Set([database.a.workspace, database.b.workspace]),
    )
    for (const table of [
      'tasks',
      'attempts',
      'sessions',
      'limits',
      'agents',
      'agent_health',
      'log_cursors',
      'agent_runtime_state',
      'wakeups',
      'runs',
      'missions',
      'mission_counters',
    ]) {
      const changed = await asServer(null, `update ${table} set workspace_id = workspace_id`, [], upkeep)
      expect([table, (changed as pg.QueryResult).rowCount]).toEqual([table, 0])
    }
    for (const table of tables) {
      const row = await rowOf(table, database.a.workspace)
      expect(await asServer(null, copyInto(table), [row], upkeep), table).toMatchObject(NOT_ITS_ROW)
    }
  })
})

describe('the tables of the cluster', () => {
  const cluster = { 'baton.scope': 'cluster' }
  const changing = CLUSTER_TABLES.filter((table) => table !== 'instance')
  const seen = async (workspace: number | null, table: string, settings: Record<string, string> = {}) =>
    (await asServer(workspace, `select * from ${table}`, [], settings)) as pg.QueryResult

  test('are guarded as such, and all others are guarded by workspace', async () => {
    const { rows } = await superuser(database.url, (client) =>
      client.query(
        `select tablename as table from pg_policies where schemaname = 'baton' and policyname = 'cluster_scope' order by 1`,
      ),
    )
    expect(rows.map(({ table }) => table)).toEqual(CLUSTER_TABLES)
    const { rows: own } = await superuser(database.url, (client) =>
      client.query(
        `select tablename as table from pg_policies where schemaname = 'baton' and policyname = 'own_workspace' order by 1`,
      ),
    )
    expect(own.map(({ table }) => table)).toEqual(tables)
  })

  test('are read and changed in the name of the cluster, which sees no workspace', async () => {
    for (const table of changing) {
      expect((await seen(null, table, cluster)).rowCount, table).toBe(1)
      const changed = await asServer(null, `update ${table} set node_id = node_id`, [], cluster)
      expect(changed, table).toMatchObject({ rowCount: 1 })
    }
    for (const table of tables)
      expect([table, (await seen(null, table, cluster)).rowCount]).toEqual([table, 0])
  })

  test('are hidden from all others: nodes from everyone, terms from all but workspaces, which must know whether one lasts', async () => {
    const { workspace } = database.a
    for (const table of CLUSTER_TABLES) {
      expect((await seen(null, table)).rowCount, table).toBe(0)
      expect((await seen(null, table, { 'baton.scope': 'upkeep' })).rowCount, table).toBe(0)
    }
    expect((await seen(workspace, 'nodes')).rowCount).toBe(0)
    expect((await seen(workspace, 'leader_leases')).rowCount).toBe(1)
    const kept = await asServer(workspace, 'select 1 from leader_leases for key share')
    expect(kept).toMatchObject({ rowCount: 1 })
  })

  test('give a database one id, which nobody changes', async () => {
    const { rows } = await seen(null, 'instance', cluster)
    expect(rows).toEqual([{ workspace_id: 0, instance_id: expect.stringMatching(/^[0-9a-f-]{36}$/) }])
    for (const change of ['update instance set instance_id = gen_random_uuid()', 'delete from instance'])
      expect(await asServer(null, change, [], cluster)).toMatchObject(NOT_ALLOWED)
  })

  const others: [string, () => number | null, Record<string, string>][] = [
    ['a workspace', () => database.a.workspace, {}],
    ['upkeep', () => null, { 'baton.scope': 'upkeep' }],
    ['nobody', () => null, {}],
  ]
  test.each(others)('are not changed by %s', async (_, workspace, settings) => {
    for (const table of changing) {
      const as = (sql: string, values: unknown[] = []) => asServer(workspace(), sql, values, settings)
      const row = await rowOf(table, 0)
      expect(await as(copyInto(table), [row]), table).toMatchObject(NOT_ITS_ROW)
      expect(await as(`delete from ${table}`), table).toMatchObject({ rowCount: 0 })
      const changed = await as(`update ${table} set node_id = node_id`)
      if (changed instanceof Error) expect(changed, table).toMatchObject(NOT_ITS_ROW)
      else expect(changed, table).toMatchObject({ rowCount: 0 })
    }
  })
})
