import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { type ConnectionTarget, cannotBeUsed, openClient } from '../postgres/connection/connect.ts'
import { FOR_SETUP, SCHEMA } from '../postgres/connection/session-settings.ts'
import {
  isOutsideTransactions,
  runStatements,
  withoutConcurrently,
} from '../postgres/schema/statement-by-statement.ts'
import { StartRefused } from '../pure/refusal.ts'
import { KIND_GRANTS } from './stored-kinds.ts'

interface Migration {
  version: number
  name: string
  checksum: string
  sql: string
}

/** The SQL files stay beside the sources; compiled code reads them from there, too. */
const MIGRATIONS_FOLDER = join(packageRoot(), 'src/postgres/schema/migrations')

function packageRoot(): string {
  const here = dirname(fileURLToPath(import.meta.url))
  // As a source, compiled, or joined with the whole server into one file.
  return here.replace(/[/\\]dist[/\\]server$|([/\\]dist)?[/\\]src[/\\]store$/, '')
}

export function readMigrations(folder = MIGRATIONS_FOLDER): Migration[] {
  return readdirSync(folder)
    .filter((file) => /^\d{4}_.*\.sql$/.test(file))
    .sort()
    .map((name) => {
      const sql = readFileSync(join(folder, name), 'utf8')
      return {
        version: Number(name.slice(0, 4)),
        name,
        sql,
        checksum: createHash('sha256').update(sql).digest('hex'),
      }
    })
}

/**
 * Migrates the database to this version of Baton, or refuses. A new database gets everything or nothing; of one in use, each
 * migration is a transaction of its own, or several, so that no lock is held through all of them. Safe with several nodes
 * starting at once.
 */
export async function migrate(
  way: ConnectionTarget,
  role: string,
  migrations = readMigrations(),
): Promise<void> {
  const client = await openClient(way, 'baton-setup', FOR_SETUP).catch((error) => {
    throw cannotBeUsed(way.url, error)
  })
  try {
    await waitForOthers(client)
    const missing = await findMissing(client, migrations)
    if (missing.length === migrations.length) await applyTogether(client, role, missing)
    else {
      for (const migration of missing) await applyAlone(client, role, migration)
      await serveable(client, role)
    }
  } catch (error) {
    if (error instanceof StartRefused) throw error
    throw new StartRefused(`The database could not be set up: ${(error as Error).message}.`)
  } finally {
    await client.end()
  }
}

const OTHERS_ASK_AGAIN_MS = 50

/**
 * Held until the connection ends, so one of several nodes migrates and the others find it done. 0xba70 is Baton's own lock.
 * Asked for again and again: a statement that waits for it would be an open transaction, which indexes that are made
 * concurrently wait for.
 */
async function waitForOthers(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock(47728) as mine')
    if (rows[0]!.mine) return
    await new Promise((resolve) => setTimeout(resolve, OTHERS_ASK_AGAIN_MS))
  }
}

async function findMissing(client: pg.Client, migrations: Migration[]): Promise<Migration[]> {
  const { rows: found } = await client.query(`select to_regclass('${SCHEMA}.schema_migrations') as name`)
  if (found[0]!.name === null) return migrations
  const { rows } = await client.query<Migration>(
    'select version, name, checksum from schema_migrations order by version',
  )
  const known = new Map(migrations.map((migration) => [migration.version, migration]))
  const applied = new Set<number>()
  for (const row of rows) {
    const ours = known.get(row.version)
    if (!ours)
      throw new StartRefused(
        `The database is newer than this Baton: it has ${row.name}, which this version does not know; start a newer Baton, or restore a backup from before the upgrade.`,
      )
    if (ours.name !== row.name)
      throw new StartRefused(
        `The database was made by an earlier, unreleased version of Baton (it has ${row.name}); give this version an empty database or data folder.`,
      )
    if (ours.checksum !== row.checksum)
      throw new StartRefused(`The database was set up with another ${row.name} than this Baton has.`)
    applied.add(row.version)
  }
  return migrations.filter(({ version }) => !applied.has(version))
}

/** A new database: nobody waits for its locks. */
async function applyTogether(
  client: pg.Client,
  role: string,
  migrations: readonly Migration[],
): Promise<void> {
  await client.query('begin')
  await client.query(`create schema if not exists ${SCHEMA}`)
  await client.query(`create table if not exists schema_migrations (
    version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`)
  for (const migration of migrations) {
    await client.query(withoutConcurrently(migration.sql))
    await recordApplied(client, migration)
  }
  await grantAndCheck(client, role)
  await client.query('commit')
}

async function applyAlone(client: pg.Client, role: string, migration: Migration): Promise<void> {
  const isOutside = isOutsideTransactions(migration.sql)
  if (isOutside) await runStatements(client, migration.sql)
  await client.query('begin')
  if (!isOutside) await client.query(migration.sql)
  await recordApplied(client, migration)
  await grantAndCheck(client, role)
  await client.query('commit')
}

async function serveable(client: pg.Client, role: string): Promise<void> {
  await client.query('begin')
  await grantAndCheck(client, role)
  await client.query('commit')
}

/** Before commit: a database that cannot be used stays as it was. */
async function grantAndCheck(client: pg.Client, role: string): Promise<void> {
  await grantToServer(client, role)
  await client.query(`set local role ${client.escapeIdentifier(role)}`)
  await assertSafeToServe(client)
  await client.query('reset role')
}

const recordApplied = (client: pg.Client, { version, name, checksum }: Migration) =>
  client.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', [
    version,
    name,
    checksum,
  ])

/**
 * The privileges of the server role on each table. Nothing else: the log is append-only because the role may not update it. Kinds
 * of records name those of their tables themselves.
 */
const GRANTS: Record<string, string> = {
  ...KIND_GRANTS,
  schema_migrations: 'select',
  log_cursors: 'select, insert, update, delete',
  instance: 'select',
  nodes: 'select, insert, update, delete',
  leader_leases: 'select, insert, update, delete',
  events: 'select, insert',
  event_origins: 'select, insert',
  idempotency_keys: 'select, insert, delete',
}

async function grantToServer(client: pg.Client, role: string): Promise<void> {
  const name = client.escapeIdentifier(role)
  await ensureRole(client, role)
  await client.query(`grant usage on schema ${SCHEMA} to ${name}`)
  await client.query(`grant usage, select on all sequences in schema ${SCHEMA} to ${name}`)
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c where c.relnamespace = '${SCHEMA}'::regnamespace and c.relkind = 'r'`,
  )
  const tables = new Set(rows.map((row) => row.name))
  // Some are made by migrations that come after this one.
  for (const [table, rights] of Object.entries(GRANTS).filter(([name]) => tables.has(name)))
    await client.query(`grant ${rights} on ${table} to ${name}`)
}

const NOT_ALLOWED = '42501'

/**
 * The role exists, and the login may become it. A login that may not create it gets the statements a superuser has to run.
 */
async function ensureRole(client: pg.Client, role: string): Promise<void> {
  const name = client.escapeIdentifier(role)
  const { rows } = await client.query(
    `select quote_ident(current_user) as login, exists (select from pg_roles where rolname = $1) as "isThere"`,
    [role],
  )
  const { login, isThere } = rows[0]
  try {
    // Roles belong to the whole server: the first start on another database may be creating it right now.
    await client.query(`do $$ begin
      if not exists (select from pg_roles where rolname = ${client.escapeLiteral(role)}) then create role ${name} nologin; end if;
      exception when duplicate_object or unique_violation then null;
    end $$`)
    await mayTakeOn(client, name)
  } catch (error) {
    if ((error as pg.DatabaseError).code !== NOT_ALLOWED) throw error
    const orders = [...(isThere ? [] : [`create role ${role} nologin;`]), `grant ${role} to ${login};`]
    throw new StartRefused(
      `The database user ${login} cannot take on the role ${role}, which the server uses; a superuser must run: ${orders.join(' ')}`,
    )
  }
}

/** The login must be allowed to become the role. Tried, not looked up: the rules differ between versions of Postgres. */
async function mayTakeOn(client: pg.Client, name: string): Promise<void> {
  await client.query('savepoint before_role')
  try {
    await client.query(`set local role ${name}`)
    await client.query('rollback to savepoint before_role')
  } catch {
    await client.query('rollback to savepoint before_role')
    await client.query(`grant ${name} to current_user`)
  }
}

/** Row-level security does not apply to owners and superusers, so the server must be neither; and no trigger may be off. */
export async function assertSafeToServe(pool: Pick<pg.Client, 'query'>): Promise<void> {
  const { rows } = await pool
    .query(`
    select current_user as name, r.rolsuper, r.rolbypassrls,
           (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = '${SCHEMA}' and c.relkind = 'r' and pg_has_role(current_user, c.relowner, 'usage'))::int as owned,
           (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = '${SCHEMA}' and c.relkind = 'r' and c.relname <> 'schema_migrations'
               and not (c.relrowsecurity and c.relforcerowsecurity))::int as unguarded,
           current_setting('session_replication_role') as triggers
      from pg_roles r where r.rolname = current_user`)
    .catch((error: Error) => {
      throw new StartRefused(`The database cannot be used: ${error.message}.`)
    })
  const facts = rows[0]!
  if (facts.rolsuper || facts.rolbypassrls || facts.owned > 0)
    throw new StartRefused(
      `Baton does not run as the database role "${facts.name}": it is a superuser, an owner or exempt from row-level security, so workspaces could leak.`,
    )
  if (facts.unguarded > 0)
    throw new StartRefused('Row-level security is off for some tables of the database.')
  // Only a superuser can set it, so it cannot be set on each connection.
  if (facts.triggers !== 'origin')
    throw new StartRefused(
      `The database has session_replication_role = ${facts.triggers}, so triggers and foreign keys are not enforced.`,
    )
}
