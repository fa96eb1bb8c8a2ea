import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { StartRefused } from '../src/core/refusal.ts'
import { findDatabase } from '../src/store/postgres/connection/database.ts'
import { migrate as migrateDatabase, readMigrations } from '../src/store/postgres/schema/migrate.ts'
import { PostgresStore, SERVER_ROLE } from '../src/store/postgres/store.ts'
import { emptyDatabase, serverUrl } from './support/database.ts'
import { superuser } from './support/nodes.ts'
import { atGeneration, type Holder, handedOut, holder, newTask, outcome, Work } from './support/tasks.ts'

const migrate = async (url: string, role: string, migrations = readMigrations()) =>
  migrateDatabase(await findDatabase(url), role, migrations)

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const act of undo.splice(0).reverse()) await act()
})

async function unused(): Promise<string> {
  const { url, drop } = await emptyDatabase()
  undo.push(drop)
  return url
}

async function migrated(): Promise<string> {
  const url = await unused()
  await migrate(url, SERVER_ROLE)
  return url
}

/** Roles belong to the whole server, so each test makes its own and takes it away. */
async function role(attributes = 'nologin'): Promise<string> {
  const name = `role_${randomUUID().replaceAll('-', '')}`
  await superuser(serverUrl(), (client) => client.query(`create role ${name} ${attributes}`))
  undo.push(() => superuser(serverUrl(), (client) => client.query(`drop role if exists ${name}`)))
  return name
}

const sql = (url: string, text: string) => superuser(url, (client) => client.query(text))

/** Every object of the schema with its rights and the migrations on record. */
const picture = (url: string) =>
  superuser(url, async (client) => {
    const objects = await client.query(
      `select c.oid::int, c.relname, c.relkind, c.relacl::text, c.relrowsecurity, c.relforcerowsecurity
         from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'baton' order by c.oid`,
    )
    const known = await client.query(`select to_regclass('baton.schema_migrations') is not null as yes`)
    const applied = known.rows[0].yes
      ? (await client.query('select * from baton.schema_migrations order by version')).rows
      : null
    return { objects: objects.rows, applied }
  })

const refusal = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'nothing was refused',
    (error: Error) => {
      expect(error).toBeInstanceOf(StartRefused)
      return error.message
    },
  )
const ONE_SENTENCE = /^[A-Z][^\n]*\.$/

/** Opened stores are closed again, refused or not. */
async function opened(url: string, as?: string): Promise<PostgresStore> {
  const store = await PostgresStore.open(url, as)
  undo.push(() => store.close())
  return store
}

describe('migrate', () => {
  test('brings an empty database to this version', async () => {
    const url = await migrated()
    const { objects, applied } = await picture(url)
    expect(objects.map(({ relname }) => relname)).toContain('claims_one_active')
    expect(applied!.map(({ name }) => name)).toEqual(readMigrations().map(({ name }) => name))
  })

  test('changes nothing the second time', async () => {
    const url = await migrated()
    const before = await picture(url)
    await migrate(url, SERVER_ROLE)
    expect(await picture(url)).toEqual(before)
  })

  test('applies what is missing, and only that', async () => {
    const url = await migrated()
    const before = await picture(url)
    const guarded = 'alter table more enable row level security; alter table more force row level security'
    const sql = `create table more (workspace_id int primary key); ${guarded}`
    await migrate(url, SERVER_ROLE, [
      ...readMigrations(),
      { version: 9000, name: '9000_more.sql', checksum: 'c', sql },
    ])
    const after = await picture(url)
    expect(after.applied!.slice(0, -1)).toEqual(before.applied)
    expect(after.applied!.at(-1)).toMatchObject({ version: 9000, name: '9000_more.sql' })
    expect(after.objects.map(({ relname }) => relname)).toContain('more')
  })

  test('keeps no table that row-level security does not guard', async () => {
    const url = await migrated()
    const before = await picture(url)
    const open = {
      version: 9000,
      name: '9000_more.sql',
      checksum: 'c',
      sql: 'create table more (workspace_id int primary key)',
    }
    const message = await refusal(migrate(url, SERVER_ROLE, [...readMigrations(), open]))
    expect(message).toContain('row-level security')
    expect(await picture(url)).toEqual(before)
  })

  test('refuses a database that is newer, and changes nothing', async () => {
    const url = await migrated()
    await sql(url, `insert into baton.schema_migrations values (9999, '9999_future.sql', 'c')`)
    const before = await picture(url)
    const missing = { version: 9000, name: '9000_more.sql', checksum: 'c', sql: 'create table more (id int)' }
    const message = await refusal(migrate(url, SERVER_ROLE, [...readMigrations(), missing]))
    expect(message).toMatch(ONE_SENTENCE)
    expect(message).toContain('9999_future.sql')
    expect(await picture(url)).toEqual(before)
    expect(await refusal(PostgresStore.open(url))).toBe(message)
  })

  test('refuses a migration that was changed after it was applied', async () => {
    const url = await migrated()
    const before = await picture(url)
    const [first, ...others] = readMigrations()
    const message = await refusal(migrate(url, SERVER_ROLE, [{ ...first!, checksum: 'other' }, ...others]))
    expect(message).toMatch(ONE_SENTENCE)
    expect(message).toContain(first!.name)
    expect(await picture(url)).toEqual(before)
  })

  test('leaves nothing behind when a migration fails in the middle', async () => {
    const url = await unused()
    const bad = {
      version: 9000,
      name: '9000_bad.sql',
      checksum: 'c',
      sql: 'create table more (id int); select 1/0',
    }
    const message = await refusal(migrate(url, SERVER_ROLE, [...readMigrations(), bad]))
    expect(message).toContain('division by zero')
    expect(await picture(url)).toEqual({ objects: [], applied: null })
    await migrate(url, SERVER_ROLE)
  })

  test('run by several nodes at once on an empty database succeeds for all of them', async () => {
    const url = await unused()
    await Promise.all(Array.from({ length: 4 }, () => migrate(url, SERVER_ROLE)))
    expect((await picture(url)).applied).toHaveLength(readMigrations().length)
  })

  test('run at once on several new databases of one server succeeds for all of them', async () => {
    const name = await role()
    await sql(serverUrl(), `drop role ${name}`)
    const urls = await Promise.all(Array.from({ length: 4 }, unused))
    // The server's role belongs to all databases, so they race for making it.
    await Promise.all(urls.map((url) => migrate(url, name)))
    for (const url of urls) await sql(url, `drop owned by ${name}`)
  })

  test('names an unreachable database without its password', async () => {
    const message = await refusal(migrate('postgres://baton:hunter2@127.0.0.1:1/baton', SERVER_ROLE))
    expect(message).toMatch(ONE_SENTENCE)
    expect(message).toContain('127.0.0.1:1/baton')
    expect(message).not.toContain('hunter2')
  })
})

describe('a database that was set up by 0001, with work in it,', () => {
  const [foundation] = readMigrations()
  const OLD_TABLES = [
    ...[
      'workspaces',
      'workspace_counters',
      'limits',
      'api_keys',
      'agents',
      'sessions',
      'tasks',
      'task_details',
    ],
    ...['task_dependencies', 'claims', 'results', 'events', 'idempotency_keys'],
  ]

  /** As the Baton of that time left it: tasks in all kinds of states, with keys and without, held and done. */
  const WORK = `
    insert into workspaces (workspace_id, uuid, name) values (7, gen_random_uuid(), 'old');
    insert into workspace_counters values (7, 3, 1);
    insert into limits values (7, 1, 600, 20, 50, 4096, false);
    insert into api_keys (workspace_id, key_id, name, key_hash, prefix, role)
      values (7, gen_random_uuid(), 'ci', sha256('k'), 'bt_', 'member');
    insert into agents (workspace_id, agent_id, slug, name) values (7, gen_random_uuid(), 'alpha', 'Alpha');
    insert into sessions (workspace_id, session, session_id, agent, user_ref, started_at, last_seen_at, ended_at) values
      (7, 's-active', gen_random_uuid(), 'alpha', 'ann', now() - interval '2 hours', now() - interval '1 hour', null),
      (7, 's-ended', gen_random_uuid(), null, null, now() - interval '2 days', now() - interval '1 day', now() - interval '1 day');
    insert into tasks (workspace_id, id, uuid, key, state, paused_from, priority, generation, attempt, max_retries, rank,
        due_at, blocked, only_agent, capabilities, review, claim_state, session, agent, lease_ms, lease_expires_at,
        result_hash, created_at, updated_at, completed_at)
    select 7, t.id, ('01890000-0000-7000-8000-' || lpad(to_hex(t.id), 12, '0'))::uuid, t.key, t.state, t.paused_from, 5,
        t.generation, t.generation, 3, case t.state when 'queued' then t.id * 1000 end,
        case when t.state = 'awaiting_retry' then now() + interval '1 hour' end, t.blocked, t.only_agent, t.capabilities,
        'none', t.claim_state, case when t.generation > 0 then 's-active' end,
        case when t.generation > 0 then 'alpha' end, 60000,
        case when t.claim_state = 'active' then now() + interval '1 hour' end,
        case t.state when 'completed' then 'abc' end, now(), now(), case t.state when 'completed' then now() end
      from (values
        (1, 'A-001-first', 'queued', null, 0, false, null, null::text[], null),
        (2, 'B-003-dashboard::2', 'queued', null, 0, false, null, '{go,rust}', null),
        (3, null, 'queued', null, 0, false, null, '{rust}', null),
        (4, null, 'queued', null, 0, false, 'beta', null, null),
        (5, 'A-002-held', 'running', null, 1, false, null, null, 'active'),
        (6, 'A-003-done', 'completed', null, 2, false, null, '{}', 'released'),
        (7, 'LONGTRCK-999-later', 'pending', null, 0, true, null, null, null),
        (8, null, 'paused', 'queued', 0, false, null, null, null),
        (9, 'C-001-again', 'awaiting_retry', null, 1, false, null, null, 'expired'),
        (10, 'Z-001-odd', 'queued', null, 0, false, null, array['"{\\,é😀/ ', 'null'], null)
      ) as t(id, key, state, paused_from, generation, blocked, only_agent, capabilities, claim_state);
    select setval('task_ids', 10);
    insert into task_details (workspace_id, task_id, title, task_type, input, tags)
      select 7, id, 'task ' || id, 'coding', '{"a": 1}', '{x,y}' from tasks;
    insert into task_dependencies values (7, 7, 5, 'all_success');
    insert into claims select 7, id, generation, 's-active', 'alpha', claim_state, now() - interval '1 minute', now(),
      case claim_state when 'active' then null else now() end,
      case claim_state when 'active' then null when 'expired' then 'EXPIRED' else 'COMPLETED' end
      from tasks where generation > 0;
    insert into results values (7, 6, 2, 's-active', 'abc', 1, 'alpha', true, null, 'wp-A-003-done-gen2-abc', '{"r": 1}', null, now()),
      (7, 6, 1, 's-ended', 'def', 1, null, false, 'STALE_GENERATION', 'wp-A-003-done-gen1-def', '{"r": 2}', null, now());
    insert into events select 7, i, 'task_created', i, 0, null, 'queued', 'key:ci', '{}', now() from generate_series(1, 3) i;
    insert into idempotency_keys (workspace_id, key, body_hash, reply) values (7, 'k-1', 'h', '{"ok": true}');`

  async function oldDatabase(): Promise<string> {
    const url = await unused()
    await superuser(url, async (client) => {
      await client.query('create schema baton; set search_path = baton')
      await client.query(`create table schema_migrations (version integer primary key, name text not null,
        checksum text not null, applied_at timestamptz not null default now())`)
      await client.query(foundation!.sql)
      const { version, name, checksum } = foundation!
      await client.query('insert into schema_migrations values ($1, $2, $3)', [version, name, checksum])
      await client.query(WORK)
    })
    return url
  }

  /** Every row of the tables there were, in the columns there were. */
  async function rowsOf(url: string, columns?: Record<string, string[]>) {
    return superuser(url, async (client) => {
      const all: Record<string, Record<string, unknown>[]> = {}
      for (const table of OLD_TABLES) {
        const named = columns?.[table]?.map((name) => `"${name}"`).join(', ') ?? '*'
        const { rows } = await client.query(`select ${named} from baton.${table} t order by t::text`)
        all[table] = rows
      }
      return all
    })
  }

  test('is brought up with everything kept', async () => {
    const url = await oldDatabase()
    const before = await rowsOf(url)
    for (const table of OLD_TABLES) expect(before[table], table).not.toEqual([])
    await migrate(url, SERVER_ROLE)
    const columns = Object.fromEntries(
      Object.entries(before).map(([table, rows]) => [table, Object.keys(rows[0]!)]),
    )
    const after = await rowsOf(url, columns)
    const byId = (rows: Record<string, unknown>[]) =>
      rows.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
    for (const task of before.tasks!) task.capabilities ??= []
    for (const table of OLD_TABLES) expect(byId(after[table]!), table).toEqual(byId(before[table]!))
  })

  test('has what is new filled in: lines by key, ended sessions, defaults for the rest', async () => {
    const url = await oldDatabase()
    await migrate(url, SERVER_ROLE)
    const rows = (text: string) => superuser(url, async (client) => (await client.query(text)).rows)
    expect(
      await rows(
        'select id::int, line, project_id, parent_id, merge, expires_at from baton.tasks order by id',
      ),
    ).toEqual(
      ['A', 'B::', '', '', 'A', 'A', 'LONGTRCK', '', 'C', 'Z'].map((line, i) => ({
        id: i + 1,
        line,
        project_id: 0,
        parent_id: null,
        merge: 'none',
        expires_at: null,
      })),
    )
    expect(
      await rows(
        `select session, state, end_reason, declared, capacity, due_at = last_seen_at + interval '1 day' as due
           from baton.sessions order by session`,
      ),
    ).toEqual([
      { session: 's-active', state: 'active', end_reason: null, declared: false, capacity: null, due: true },
      {
        session: 's-ended',
        state: 'ended',
        end_reason: 'closed',
        declared: false,
        capacity: null,
        due: null,
      },
    ])
    expect(await rows('select max_active_sessions, claim_history_retention_days from baton.limits')).toEqual([
      { max_active_sessions: 50, claim_history_retention_days: 90 },
    ])
  })

  test('is the same as a new one: tables, columns, constraints, indexes, policies, triggers and rights', async () => {
    const shapeOf = (url: string) =>
      superuser(url, async (client) => {
        const { rows } = await client.query(`
          select 'column' as kind, format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) as what
            from information_schema.columns where table_schema = 'baton'
          union all select 'constraint', conrelid::regclass || ' ' || pg_get_constraintdef(oid)
            from pg_constraint where connamespace = 'baton'::regnamespace
          union all select 'index', pg_get_indexdef(indexrelid) from pg_index
            join pg_class c on c.oid = indexrelid where c.relnamespace = 'baton'::regnamespace
          union all select 'policy', tablename || ' ' || policyname || ' ' || cmd || ' ' || coalesce(qual, '')
            from pg_policies where schemaname = 'baton'
          union all select 'trigger', pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = t.tgrelid
            where c.relnamespace = 'baton'::regnamespace and not tgisinternal
          union all select 'rights', relname || ' ' || coalesce(relacl::text, '') from pg_class
            where relnamespace = 'baton'::regnamespace
          order by 1, 2`)
        return rows
      })
    const [old, fresh] = [await oldDatabase(), await migrated()]
    await migrate(old, SERVER_ROLE)
    expect(await shapeOf(old)).toEqual(await shapeOf(fresh))
    expect((await picture(old)).applied!.map(({ name }) => name)).toEqual(
      readMigrations().map(({ name }) => name),
    )
  })

  test('goes on working: what waited is handed out, what was held is completed, who was there is known', async () => {
    const url = await oldDatabase()
    const work = new Work(await opened(url), 7)
    const alpha = holder('alpha', 's-active')
    const given = async (by: Holder, capabilities: string[]) =>
      handedOut(await work.next(by, { limit: 10, capabilities })).map(({ id }) => id)
    expect(await given(holder('beta'), [])).toEqual([1, 4])
    expect(await given(alpha, ['rust'])).toEqual([3])
    expect(await given(alpha, ['go', 'rust'])).toEqual([2])
    const held = (await work.store.task(7, 5))!.record
    expect(outcome(await work.submit(held, atGeneration(alpha, 1)))).toBe('ACCEPTED')
    expect(outcome(await work.unblock((await work.store.task(7, 7))!.record))).toBe('MOVED')
    expect(outcome(await work.tryCreate([newTask({ key: 'A-001-first' })]))).toBe('ALREADY_EXISTS')
    expect(outcome(await work.session('s-active', { kind: 'beat' }))).toBe('DONE')
    expect(await work.store.session(7, 's-ended')).toMatchObject({ state: 'ended', endReason: 'closed' })
    const seqs = (await work.events()).map(({ seq }) => seq)
    expect(seqs.length).toBeGreaterThan(3)
    expect(seqs).toEqual(seqs.map((_, i) => i + 1))
  })

  test('has its tasks in the lanes where new ones of their kind stand', async () => {
    const url = await oldDatabase()
    const work = new Work(await opened(url), 7)
    const lanes = async (ids: readonly number[]) =>
      superuser(url, async (client) => {
        const text = 'select lane from baton.tasks where id = any($1) order by array_position($1, id)'
        return (await client.query(text, [ids])).rows.map(({ lane }) => lane)
      })
    const old = await work.store.tasksById(7, [1, 2, 3, 4, 7, 10])
    const twins = old.map(({ record: { key, capabilities } }) =>
      newTask({ key: key?.replace(/[a-z]+/, 'twin') ?? null, capabilities }),
    )
    const made = await work.createAll(twins)
    expect(await lanes(old.map(({ record }) => record.id))).toEqual(await lanes(made.map(({ id }) => id)))
  })

  test('is left as it was when it cannot be brought up', async () => {
    const url = await oldDatabase()
    const before = [await picture(url), await rowsOf(url)]
    const broken = readMigrations().map((one) =>
      one.version === 2 ? { ...one, sql: `${one.sql}; select 1/0` } : one,
    )
    expect(await refusal(migrate(url, SERVER_ROLE, broken))).toContain('division by zero')
    expect([await picture(url), await rowsOf(url)]).toEqual(before)
  })
})

describe('opening the store', () => {
  test('works for an operator who is no superuser but owns the database', async () => {
    const operator = await role(`login password 'secret' createrole`)
    const server = `${operator}_server`
    const url = await unused()
    const own = new URL(url)
    Object.assign(own, { username: operator, password: 'secret' })
    await sql(url, `alter database ${own.pathname.slice(1)} owner to ${operator}`)
    undo.push(() =>
      superuser(url, async (client) => {
        await client.query(`drop owned by ${operator}, ${server} cascade`).catch(() => undefined)
        await client.query(`reassign owned by ${operator} to current_user`)
        await client.query(`drop role if exists ${server}`)
      }),
    )
    const store = await opened(own.href, server)
    const { rows } = await store.readers.query('select current_user as name')
    expect(rows).toEqual([{ name: server }])
  })

  test('is refused as a superuser', async () => {
    const name = await role('superuser')
    const message = await refusal(opened(await migrated(), name))
    expect(message).toMatch(ONE_SENTENCE)
    expect(message).toContain(name)
  })

  test('is refused as a role exempt from row-level security', async () => {
    const name = await role('bypassrls')
    const url = await migrated()
    undo.push(() => sql(url, `drop owned by ${name}`))
    expect(await refusal(opened(url, name))).toContain(name)
  })

  test('is refused as the owner of a table', async () => {
    const name = await role()
    const url = await migrated()
    await sql(url, `alter table baton.events owner to ${name}`)
    undo.push(() => sql(url, `reassign owned by ${name} to current_user; drop owned by ${name}`))
    expect(await refusal(opened(url, name))).toContain('an owner')
  })

  test('is refused as a member of the owner', async () => {
    const [name, owner] = [await role(), await role()]
    const url = await migrated()
    await sql(url, `alter table baton.events owner to ${owner}; grant ${owner} to ${name}`)
    undo.push(() => sql(url, `reassign owned by ${owner} to current_user; drop owned by ${name}, ${owner}`))
    expect(await refusal(opened(url, name))).toContain('an owner')
  })

  test.each(['disable', 'no force'])('is refused when a table has lost its guard: %s', async (how) => {
    const url = await migrated()
    await sql(url, `alter table baton.tasks ${how} row level security`)
    const message = await refusal(opened(url))
    expect(message).toMatch(ONE_SENTENCE)
    expect(message).toContain('row-level security')
  })

  test('leaves no connection behind when it is refused', async () => {
    const url = await migrated()
    await sql(url, 'alter table baton.tasks disable row level security')
    await refusal(opened(url))
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const others = `select count(*)::int as n from pg_stat_activity
                     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`
    await expect.poll(async () => (await client.query(others)).rows[0].n, { timeout: 20_000 }).toBe(0)
    await client.end()
  })
})
