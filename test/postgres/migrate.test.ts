import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { findDatabase } from '../../src/postgres/connection/database.ts'
import { StartRefused } from '../../src/pure/refusal.ts'
import { migrate as migrateDatabase, readMigrations } from '../../src/store/migrate.ts'
import { PostgresStore, SERVER_ROLE } from '../../src/store/store.ts'
import { emptyDatabase, serverUrl } from '../support/database.ts'
import { superuser } from '../support/nodes.ts'

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
    expect(objects.map(({ relname }) => relname)).toContain('attempts_one_result_per_epoch')
    expect(applied!.map(({ name }) => name)).toEqual(readMigrations().map(({ name }) => name))
  })

  test('changes nothing the second time', async () => {
    const url = await migrated()
    const before = await picture(url)
    await migrate(url, SERVER_ROLE)
    expect(await picture(url)).toEqual(before)
  })

  test('applies what is missing, and only that, and keeps the rows', async () => {
    const url = await migrated()
    await sql(url, `insert into baton.workspaces (uuid, name) values (gen_random_uuid(), 'kept')`)
    const rows = async () => (await sql(url, 'select * from baton.workspaces')).rows
    const [before, kept] = [await picture(url), await rows()]
    expect(kept).toHaveLength(1)
    const guarded = 'alter table more enable row level security; alter table more force row level security'
    const more = `create table more (workspace_id int primary key); ${guarded}`
    await migrate(url, SERVER_ROLE, [
      ...readMigrations(),
      { version: 9000, name: '9000_more.sql', checksum: 'c', sql: more },
    ])
    const after = await picture(url)
    expect(after.applied!.slice(0, -1)).toEqual(before.applied)
    expect(after.applied!.at(-1)).toMatchObject({ version: 9000, name: '9000_more.sql' })
    expect(after.objects.map(({ relname }) => relname)).toContain('more')
    expect(await rows()).toEqual(kept)
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
    expect(message).toMatch(/row-level security/i)
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

  test('refuses a database of an earlier, unreleased version, and changes nothing', async () => {
    const url = await unused()
    await sql(
      url,
      `create schema baton; create table baton.tasks (line text);
       create table baton.schema_migrations (
         version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now());
       insert into baton.schema_migrations (version, name, checksum) values (1, '0001_foundation.sql', 'c'), (2, '0002_queue.sql', 'c')`,
    )
    const before = await picture(url)
    const message = await refusal(migrate(url, SERVER_ROLE))
    expect(message).toBe(
      'The database was made by an earlier, unreleased version of Baton (it has 0001_foundation.sql); give this version an empty database or data folder.',
    )
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

  test('leaves a database as it was when a later migration fails', async () => {
    const url = await migrated()
    const before = await picture(url)
    const bad = {
      version: 9000,
      name: '9000_bad.sql',
      checksum: 'c',
      sql: 'drop table events cascade; select 1/0',
    }
    const message = await refusal(migrate(url, SERVER_ROLE, [...readMigrations(), bad]))
    expect(message).toContain('division by zero')
    expect(await picture(url)).toEqual(before)
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
    expect(message).toMatch(/row-level security/i)
  })

  test('leaves no connection behind when it is refused', async () => {
    const url = await migrated()
    await sql(url, 'alter table baton.tasks disable row level security')
    await refusal(opened(url))
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const others = `select count(*)::int as n from pg_stat_activity
                     where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`
    await expect.poll(async () => (await client.query(others)).rows[0].n).toBe(0)
    await client.end()
  })
})
