import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { superuser } from '../support/nodes.ts'
import {
  CLUSTER_TABLES,
  type Seeded,
  type SeededDatabase,
  seededDatabase,
  workspaceTables,
} from '../support/seed.ts'

let database: SeededDatabase
beforeAll(async () => {
  database = await seededDatabase()
})
afterAll(() => database.close())

/** Runs it as a superuser, whom no policy stops, and rolls it back. */
async function attempt(sql: string, values: unknown[] = []): Promise<pg.DatabaseError | null> {
  return superuser(database.url, async (client) => {
    await client.query('set search_path = baton')
    await client.query('begin')
    try {
      await client.query(sql, values)
      return null
    } catch (error) {
      return error as pg.DatabaseError
    } finally {
      await client.query('rollback')
    }
  })
}

interface Constraint {
  table: string
  name: string
  definition: string
}

let known: Promise<Constraint[]> | undefined
const constraints = () => (known ??= readConstraints())
const readConstraints = () =>
  superuser(database.url, async (client) => {
    const { rows } = await client.query<Constraint>(
      `select c.conrelid::regclass::text as table, c.conname as name, pg_get_constraintdef(c.oid) as definition
         from pg_constraint c where c.connamespace = 'baton'::regnamespace and c.contype in ('c', 'u', 'x')
       union all
       select i.indrelid::regclass::text, x.relname, pg_get_indexdef(i.indexrelid)
         from pg_index i join pg_class x on x.oid = i.indexrelid
        where x.relnamespace = 'baton'::regnamespace and i.indisunique
          and not exists (select 1 from pg_constraint c where c.conindid = i.indexrelid)`,
    )
    const plain = (text: string) => text.replaceAll('::text', '').replaceAll('baton.', '')
    return rows.map(({ table, name, definition }) => ({
      table: plain(table),
      name,
      definition: plain(definition),
    }))
  })

const mission =
  (set: string) =>
  ({ workspace }: Seeded) =>
    update('missions', set, workspace)
const commented =
  (set: string) =>
  ({ workspace }: Seeded) =>
    `${update('comments', set, workspace)} and task_id is not null`

/**
 * What the database refuses from everyone: the claim, the table, words of the constraint's definition, a way to break it. Only
 * constraints of several columns or rows, whose text alone does not show that they bite: every definition is pinned word for
 * word in contract/postgres-catalogue.json (store-catalogues.test.ts).
 */
type Guard = [claim: string, table: string, words: string, breaking: (rows: Seeded) => string]
const GUARDS: Guard[] = [
  [
    'a key that creates workspaces belongs to an unrestricted owner',
    'api_keys',
    'NOT instance_admin',
    ({ workspace }) => update('api_keys', `instance_admin = true, role = 'admin'`, workspace),
  ],
  [
    'a contractor has a template and a mission, and nobody else has',
    'agents',
    'num_nulls(template, mission_id, mission)',
    ({ workspace }) => update('agents', "template = 'dev'", workspace),
  ],
  [
    'a session has an end exactly when it is over',
    'sessions',
    "ARRAY['ended', 'lost'])) = (ended_at",
    ({ workspace }) => update('sessions', `state = 'lost'`, workspace),
  ],
  [
    'a task is in a state of the table',
    'tasks',
    "ARRAY['pending', 'queued'",
    ({ queued }) => task(queued, `state = 'resting', rank = null`),
  ],
  [
    'in the queue, a task is due at its expiry, its deadline, or when it is no longer reserved for one agent',
    'tasks',
    'due_at IS DISTINCT FROM expires_at',
    ({ queued }) => task(queued, 'due_at = now()'),
  ],
  [
    'only a finished task has an end',
    'tasks',
    'completed_at IS NOT NULL',
    ({ queued }) => task(queued, 'completed_at = now()'),
  ],
  [
    'a task is held exactly while its claim is active',
    'tasks',
    "claim_state IS DISTINCT FROM 'active'",
    ({ completed }) => task(completed, `claim_state = 'active'`),
  ],
  [
    'a task does not wait for itself',
    'task_dependencies',
    'task_id <> depends_on',
    ({ workspace }) => update('task_dependencies', 'depends_on = task_id', workspace),
  ],
  [
    'an active claim has a lease that is checked',
    'tasks',
    'num_nulls(lease_expires_at, check_at)',
    ({ held }) => task(held, 'check_at = null'),
  ],
  [
    'an epoch has at most one result that is not rejected',
    'attempts',
    'attempts_one_result_per_epoch',
    ({ completed }) =>
      `insert into attempts select (jsonb_populate_record(null::attempts, to_jsonb(a) || '{"generation": 2}')).*
         from attempts a where task_id = ${completed}`,
  ],
  [
    'of equal wakeups, one waits',
    'wakeups',
    'wakeups_one_queued',
    ({
      workspace,
    }) => `insert into wakeups (workspace_id, wakeup_id, agent, source, status, requested_by, priority, requested_at, due_at)
      select ${workspace}, gen_random_uuid(), 'alpha', 'timer', 'queued', 'system', 1, now(), now() from generate_series(1, 2)`,
  ],
  [
    'a run is about a task under a claim, or about none',
    'runs',
    'num_nulls(task_id',
    ({ running }) => run(running, 'generation = null'),
  ],
  [
    'of one claim, one run is active at a time',
    'runs',
    'runs_one_per_claim',
    ({ running }) => `insert into runs select (jsonb_populate_record(null::runs, to_jsonb(r)
      || jsonb_build_object('run_id', gen_random_uuid(), 'token_hash', null))).* from runs r where run_id = '${running}'`,
  ],
  [
    'the state of a mission follows from its phase and its gate',
    'missions',
    '((state =',
    mission("state = 'running'"),
  ],
  [
    'a mission has an end exactly when it is over',
    'missions',
    '= (completed_at IS NOT NULL)',
    mission(`completed_at = now(), closed_by = '{}'`),
  ],
  [
    'a comment is about a task or a mission, not both',
    'comments',
    'num_nonnulls(task_id, mission_id) = 1',
    commented(
      'mission_id = (select max(mission_id) from missions m where m.workspace_id = comments.workspace_id)',
    ),
  ],
  [
    'at most one term of a lease is active',
    'leader_leases',
    'leader_leases_one_open',
    () => `insert into leader_leases (role, term, node_id, taken_at, renewed_at, expires_at)
       select role, term + 1, node_id, taken_at, renewed_at, expires_at from leader_leases`,
  ],
]

const update = (table: string, set: string, workspace: number) =>
  `update ${table} set ${set} where workspace_id = ${workspace}`
const wakeup = (id: string, set: string) => `update wakeups set ${set} where wakeup_id = '${id}'`
const run = (id: string, set: string) => `update runs set ${set} where run_id = '${id}'`
const task = (id: number, set: string) => `update tasks set ${set} where id = ${id}`

describe('the database repeats the invariants', () => {
  test.each(GUARDS)('%s', async (_claim, table, words, breaking) => {
    const guards = (await constraints()).filter((c) => c.table === table && c.definition.includes(words))
    expect(guards, 'these words name one constraint').toHaveLength(1)
    expect(await attempt(breaking(database.a))).toMatchObject({
      code: expect.stringMatching(/^23(514|505)$/),
      constraint: guards[0]!.name,
    })
  })

  test('a key names one task of each project, and one outside of them', async () => {
    const { queued, onTrack } = database.a
    expect(await attempt(task(onTrack, `key = 'A-001-queued'`))).toBeNull()
    expect(await attempt(task(onTrack, `key = 'A-001-queued', project_id = 0`))).toMatchObject({
      code: '23505',
      constraint: 'tasks_key',
    })
    expect(await attempt(task(queued, `key = 'A-001-on-track'`))).toBeNull()
  })

  test('more sessions than a workspace may have are refused, as a race that is retried', async () => {
    const { workspace } = database.a
    expect(await attempt('select refuse_sessions_over_limit($1, 1)', [workspace])).toBeNull()
    expect(await attempt('select refuse_sessions_over_limit($1, 0)', [workspace])).toMatchObject({
      code: 'BT001',
    })
  })

  test('no table accepts the same row twice', async () => {
    const twice = (table: string, workspace: number) =>
      attempt(`insert into ${table} select * from ${table} where workspace_id = $1 limit 1`, [workspace])
    for (const table of await workspaceTables(database.url))
      expect(await twice(table, database.a.workspace), table).toMatchObject({ code: '23505' })
    for (const table of CLUSTER_TABLES) expect(await twice(table, 0), table).toMatchObject({ code: '23505' })
  })
})

describe('no row points across workspaces', () => {
  const foreignKeys = () =>
    superuser(database.url, async (client) => {
      const { rows } = await client.query<{ table: string; target: string; from: string[]; to: string[] }>(
        `select c.conrelid::regclass::text as table, c.confrelid::regclass::text as target,
                (select array_agg(a.attname::text order by k.n) from unnest(c.conkey) with ordinality as k(num, n)
                   join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.num) as from,
                (select array_agg(a.attname::text order by k.n) from unnest(c.confkey) with ordinality as k(num, n)
                   join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.num) as to
           from pg_constraint c where c.connamespace = 'baton'::regnamespace and c.contype = 'f' order by 1`,
      )
      return rows.map((row) => ({ ...row, table: row.table.replace('baton.', '') }))
    })

  test('every foreign key leads with workspace_id on both sides', async () => {
    const keys = await foreignKeys()
    expect(keys.length).toBeGreaterThanOrEqual(13)
    for (const { table, from, to } of keys)
      expect([table, from[0], to[0]]).toEqual([table, 'workspace_id', 'workspace_id'])
  })

  /** Written with every task: a trigger checks them, once for all rows of a statement. */
  const HELD_BY_TRIGGER = ['attempts', 'rejected_results', 'task_details']

  test('every table references a workspace, except the log, reservations, what lives for seconds and those that a trigger checks', async () => {
    const hanging = new Set((await foreignKeys()).map(({ table }) => table))
    const loose = (await workspaceTables(database.url)).filter((table) => !hanging.has(table))
    expect(loose).toEqual(
      [...HELD_BY_TRIGGER, 'budget_reservations', 'tasks', 'events', 'run_log_tail', 'workspaces'].sort(),
    )
  })

  /** What must differ for a copied row to reach its foreign keys. */
  const UNIQUE_EVERYWHERE: Record<string, object> = {
    api_keys: { key_hash: `\\x${'ab'.repeat(32)}`, created_by: '01890000-0000-7000-8000-00000000ffff' },
    event_origins: { seq: 1_000_000 },
    hooks: { hook_id: '01890000-0000-7000-8000-00000000ffff' },
    runs: { token_hash: null },
    sign_in_links: { link_hash: `\\x${'ab'.repeat(32)}` },
    socket_tickets: { ticket_hash: `\\x${'ab'.repeat(32)}` },
  }

  test('a comment answers one of its own thread only', async () => {
    const { a, b } = database
    const reply = (task: number, to: string) =>
      attempt(
        `insert into comments (workspace_id, uuid, thread, task_id, reply_to, author, text, created_at)
         select $1, gen_random_uuid(), $2, $2, comment_id, 'key:test', 'a reply', now() from comments where ${to}`,
        [a.workspace, task],
      )
    const own = `workspace_id = ${a.workspace} and task_id = ${a.queued}`
    expect(await reply(a.queued, own)).toBeNull()
    expect(await reply(a.held, own)).toMatchObject({ code: '23503' })
    const ofMission = `workspace_id = ${a.workspace} and mission_id is not null`
    expect(await reply(a.queued, ofMission)).toMatchObject({ code: '23503' })
    const foreign = `workspace_id = ${b.workspace} and task_id = ${b.queued}`
    expect(await reply(a.queued, foreign)).toMatchObject({ code: '23503' })
  })

  test('a mission waits for one of its own workspace only', async () => {
    const { a, b } = database
    const waitsFor = (of: number) =>
      attempt(
        `update missions set after_mission = (select max(mission_id) from missions where workspace_id = $2) where workspace_id = $1`,
        [a.workspace, of],
      )
    expect(await waitsFor(b.workspace)).toMatchObject({ code: '23503' })
    expect(await waitsFor(a.workspace)).toBeNull()
  })

  test('a contractor works for a mission of its own workspace only', async () => {
    const { a, b } = database
    const worksFor = (of: number) =>
      attempt(
        `insert into agents (workspace_id, agent_id, slug, name, kind, template, mission, mission_id)
         select $1, gen_random_uuid(), 'dev@mission-0123456789ab', 'Dev', 'contractor', 'dev', m.uuid, m.mission_id
           from missions m where m.workspace_id = $2 limit 1`,
        [a.workspace, of],
      )
    expect(await worksFor(b.workspace)).toMatchObject({ code: '23503' })
    expect(await worksFor(a.workspace)).toBeNull()
  })

  test('a row of one workspace cannot be copied to another, or to none', async () => {
    const { a, b } = database
    const keys = (await foreignKeys()).filter(({ table }) => !CLUSTER_TABLES.includes(table))
    const pointing = new Set([...HELD_BY_TRIGGER, 'tasks', ...keys.map(({ table }) => table)])
    // Most missions wait for no other one, most agents are made for none, and most routines are made from none.
    const isRare = (table: string) => ['missions', 'agents', 'routines'].includes(table)
    const inside = keys.filter(({ table, target }) => !isRare(table) && !target.endsWith('workspaces'))
    const pointsInside = new Set([...HELD_BY_TRIGGER, ...inside.map(({ table }) => table)])
    for (const table of pointing) {
      const fresh = JSON.stringify(UNIQUE_EVERYWHERE[table] ?? {})
      const moved = `insert into ${table} select (jsonb_populate_record(null::${table}, to_jsonb(t)
          || jsonb_build_object('workspace_id', $2::int) || '${fresh}')).* from ${table} t where workspace_id = $1 limit 1`
      expect(await attempt(moved, [a.workspace, 999_999]), table).toMatchObject({ code: '23503' })
      if (pointsInside.has(table))
        expect(await attempt(moved, [a.workspace, b.workspace]), table).toMatchObject({ code: '23503' })
    }
    expect([...pointsInside].sort()).toEqual([
      'agent_health',
      'agent_runtime_state',
      'agent_task_sessions',
      'api_keys',
      'attempts',
      'browser_sessions',
      'comments',
      'event_origins',
      'hook_deliveries',
      'mission_counters',
      'mission_plans',
      'project_counters',
      'rejected_results',
      'reports',
      'routine_fires',
      'run_events',
      'run_invocations',
      'run_messages',
      'runs',
      'sign_in_links',
      'socket_tickets',
      'task_dependencies',
      'task_details',
      'task_tags',
      'track_claims',
      'tracks',
      'usage',
      'usage_quarters',
      'usage_sources',
      'wakeups',
      'webhook_deliveries',
      'webhook_progress',
    ])
  })

  test('a leader term belongs to a known node', async () => {
    const unknown = 'update leader_leases set node_id = gen_random_uuid()'
    expect(await attempt(unknown)).toMatchObject({ code: '23503' })
    expect(await attempt('delete from nodes')).toMatchObject({ code: '23503' })
  })

  /** A copy of a waiting task under a new number, with these columns instead of its own. */
  const another = (of: Seeded, columns: object) =>
    `insert into tasks select (jsonb_populate_record(null::tasks, to_jsonb(t) || '${JSON.stringify({
      id: 999_999,
      key: null,
      ...columns,
    })}')).* from tasks t where id = ${of.queued}`
  const PROJECT = { code: '23503', message: 'a task must belong to a project of its workspace' }
  const PART = { code: '23503', message: 'a part must belong to a task of its workspace' }

  test('a workspace with tasks cannot be deleted', async () => {
    const removed = attempt('delete from workspaces where workspace_id = $1', [database.a.workspace])
    expect(await removed).toMatchObject({ code: '23503' })
  })

  test('a task is of a mission of its own workspace, or of none', async () => {
    const { a, b } = database
    const missionOf = ({ workspace }: Seeded) =>
      superuser(database.url, async (client) => {
        const found = await client.query('select mission_id from baton.missions where workspace_id = $1', [
          workspace,
        ])
        return Number(found.rows[0].mission_id)
      })
    expect(await attempt(another(a, { mission_id: await missionOf(a) }))).toBeNull()
    expect(await attempt(another(a, { mission_id: await missionOf(b) }))).toMatchObject({
      code: '23503',
      message: 'a task must belong to a mission of its workspace',
    })
  })

  test('a task is in a project of its own workspace, or in none', async () => {
    const { a, b } = database
    expect(await attempt(another(a, { project_id: a.project }))).toBeNull()
    expect(await attempt(another(a, { project_id: 0 }))).toBeNull()
    expect(await attempt(another(a, { project_id: b.project }))).toMatchObject(PROJECT)
    expect(await attempt(another(a, { project_id: 999_999 }))).toMatchObject(PROJECT)
  })

  test('a part belongs to a task of its own workspace', async () => {
    const { a, b } = database
    expect(await attempt(another(a, { parent_id: a.whole }))).toBeNull()
    expect(await attempt(another(a, { parent_id: b.whole }))).toMatchObject(PART)
    expect(await attempt(another(a, { parent_id: 888_888 }))).toMatchObject(PART)
  })

  test('among many rows of one statement, one that points elsewhere is found', async () => {
    const { a, b } = database
    const many = (column: string, last: number) =>
      `insert into tasks select (jsonb_populate_record(null::tasks, to_jsonb(t)
         || jsonb_build_object('id', 900000 + i, 'key', null, '${column}', case i when 100 then ${last} else null end)
         || case when '${column}' = 'project_id' and i < 100 then '{"project_id": 0}'::jsonb else '{}' end)).*
         from tasks t, generate_series(1, 100) i where t.id = ${a.queued}`
    expect(await attempt(many('parent_id', a.whole))).toBeNull()
    expect(await attempt(many('parent_id', b.whole))).toMatchObject(PART)
    expect(await attempt(many('project_id', a.project))).toBeNull()
    expect(await attempt(many('project_id', b.project))).toMatchObject(PROJECT)
  })

  test('a track belongs to a project, and an agent on it holds a task, all of one workspace', async () => {
    const { a, b } = database
    const track = (project: number) =>
      `insert into tracks (workspace_id, project_id, track) values (${a.workspace}, ${project}, 'Z')`
    expect(await attempt(track(a.project))).toBeNull()
    expect(await attempt(track(b.project))).toMatchObject({ code: '23503' })
    const onTrack = (task: number, project: number) =>
      `insert into track_claims (workspace_id, task_id, project_id, track, agent)
       values (${a.workspace}, ${task}, ${project}, 'Z', 'alpha')`
    expect(await attempt(onTrack(a.held, a.project))).toBeNull()
    expect(await attempt(onTrack(a.held, b.project))).toMatchObject({ code: '23503' })
    expect(await attempt(onTrack(b.held, a.project))).toMatchObject({ code: '23503' })
  })

  test('a run is about a task of its own workspace, and a wakeup is merged into one of its own', async () => {
    const { a, b } = database
    expect(await attempt(run(a.running, `task_id = ${a.queued}`))).toBeNull()
    expect(await attempt(run(a.running, `task_id = ${b.queued}`))).toMatchObject({ code: '23503' })
    expect(await attempt(wakeup(a.coalesced, `into_id = '${b.claimed}'`))).toMatchObject({ code: '23503' })
    expect(await attempt(wakeup(a.coalesced, `into_id = gen_random_uuid()`))).toMatchObject({ code: '23503' })
    expect(await attempt(wakeup(a.claimed, `agent = 'agent-of-${b.workspace}'`))).toMatchObject({
      code: '23503',
    })
  })

  /** How many rows there are of each once this was done; it is rolled back. */
  const leftAfter = (sql: string, tables: readonly string[]) =>
    superuser(database.url, async (client) => {
      await client.query('set search_path = baton')
      await client.query('begin')
      await client.query(sql)
      const counts: Record<string, number> = {}
      for (const table of tables)
        counts[table] = (
          await client.query(
            `select count(*)::int as n from ${table} where workspace_id = ${database.a.workspace}`,
          )
        ).rows[0].n
      await client.query('rollback')
      return counts
    })

  test('removing an agent deletes its runtime state, but not its runs', async () => {
    const { workspace } = database.a
    const gone = ['agent_runtime_state', 'agent_task_sessions', 'wakeups']
    const remove = `delete from agent_health where workspace_id = ${workspace};
      delete from agents where workspace_id = ${workspace} and slug = 'agent-of-${workspace}'`
    expect(await leftAfter(remove, [...gone, 'runs', 'run_events', 'run_log_chunks'])).toEqual({
      ...Object.fromEntries(gone.map((table) => [table, 0])),
      ...{ runs: 2, run_events: 1, run_log_chunks: 1 },
    })
  })

  test('deleting a wakeup deletes those merged into it', async () => {
    const { claimed, coalesced } = database.a
    const forget = (id: string) => leftAfter(`delete from wakeups where wakeup_id = '${id}'`, ['wakeups'])
    expect(await forget(coalesced)).toEqual({ wakeups: 1 })
    expect(await forget(claimed)).toEqual({ wakeups: 0 })
  })

  test('a task is on one track at most', async () => {
    const { workspace, onTrack, project } = database.a
    const twice = `insert into track_claims (workspace_id, task_id, project_id, track, agent)
      values (${workspace}, ${onTrack}, ${project}, 'B', 'beta')`
    expect(await attempt(twice)).toMatchObject({ code: '23505', constraint: 'track_claims_pkey' })
  })

  test('every trigger of the schema is tested here', async () => {
    const { rows } = await superuser(database.url, (client) =>
      client.query(
        `select c.relname as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
          where c.relnamespace = 'baton'::regnamespace and not t.tgisinternal order by 1`,
      ),
    )
    // Two of task_details keep its tags in task_tags: postgres-plans.
    const held = [...HELD_BY_TRIGGER, 'tasks', 'task_details', 'task_details']
    expect(rows.map(({ name }) => name)).toEqual(held.sort())
  })

  test('workspace_id leads the primary key of every table', async () => {
    const { rows } = await superuser(database.url, (client) =>
      client.query<{ table: string; first: string }>(
        `select c.relname as table, a.attname as first from pg_class c
           left join pg_index i on i.indrelid = c.oid and i.indisprimary
           left join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
          where c.relnamespace = 'baton'::regnamespace and c.relkind in ('r', 'p')
            and c.relname <> 'schema_migrations' order by 1`,
      ),
    )
    expect(rows.length).toBeGreaterThanOrEqual(16)
    expect(rows.filter(({ first }) => first !== 'workspace_id')).toEqual([])
  })
})
