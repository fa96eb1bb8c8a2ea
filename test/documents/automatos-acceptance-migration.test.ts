import { afterEach, expect, test } from 'vitest'
import { findDatabase } from '../../src/postgres/connection/database.ts'
import { migrate as migrateDatabase, readMigrations } from '../../src/store/migrate.ts'
import { SERVER_ROLE } from '../../src/store/store.ts'
import { emptyDatabase } from '../support/database.ts'
import { makeMission, showMission, workOff } from '../support/http-missions.ts'
import { openWorkspace } from '../support/http-workspace.ts'
import { superuser } from '../support/nodes.ts'
import { startFirst } from '../support/server.ts'

/** Automatos 10.5: a database of the first version is still good. The other criteria are shown by postgres/migrate. */

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const act of undo.splice(0).reverse()) await act()
})

const OURS = readMigrations()
const migrate = async (url: string, migrations = OURS) =>
  migrateDatabase(await findDatabase(url), SERVER_ROLE, migrations)

async function unused(): Promise<string> {
  const { url, drop } = await emptyDatabase()
  undo.push(drop)
  return url
}

const run = (url: string, text: string) =>
  superuser(url, async (client) => {
    await client.query('set search_path = baton')
    return (await client.query(text)).rows
  })

/** A server on this database, and a workspace on it. */
async function serving(url: string) {
  const server = await startFirst(url)
  undo.push(() => server.close())
  return openWorkspace(server)
}

/** A database of the first version, with rows that every later one must leave as they are. */
async function setUpBefore(): Promise<string> {
  const url = await unused()
  await migrate(url, OURS.slice(0, 1))
  await run(
    url,
    `insert into workspaces (workspace_id, uuid, name) values (7, gen_random_uuid(), 'old');
     insert into workspace_counters (workspace_id, last_seq) values (7, 2);
     insert into log_cursors (workspace_id, follower) values (7, 'dependents');
     insert into agents (workspace_id, slug, agent_id, name) values (7, 'dev', gen_random_uuid(), 'Dev');
     insert into tasks (workspace_id, id, uuid, created_at, updated_at, max_retries, priority, review, state, completed_at,
         generation, claim_state, session, agent, acquired_at, result_hash)
       values (7, 1, gen_random_uuid(), now(), now(), 3, 5, 'none', 'completed', now(), 1, 'released', 's', 'dev', now(), 'h'),
              (7, 2, gen_random_uuid(), now(), now(), 3, 5, 'human', 'cancelled', now(), 0, null, null, null, null, null);
     insert into task_details (workspace_id, task_id, title, task_type) values (7, 1, 'done', 'other'), (7, 2, 'gone', 'other');
     insert into task_dependencies (workspace_id, task_id, depends_on, trigger_rule) values (7, 2, 1, 'all_success');
     insert into events (workspace_id, seq, task_id, at, type, actor, payload)
       values (7, 1, 1, now(), 'task_archived', 'system', '{}'), (7, 2, 2, now(), 'task_archived', 'system', '{}')`,
  )
  return url
}

const TABLES = [
  'workspaces',
  'workspace_counters',
  'agents',
  'tasks',
  'task_details',
  'task_dependencies',
  'events',
]
const columnsOf = (url: string, table: string) =>
  run(
    url,
    `select string_agg(quote_ident(attname), ', ' order by attnum) as names from pg_attribute
             where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped`,
  )
/** The rows of the workspace that existed before, in the columns it had then. */
async function rowsOf(url: string, columns: Record<string, string>) {
  const rows: Record<string, unknown> = {}
  for (const table of TABLES)
    rows[table] = await run(
      url,
      `select ${columns[table]} from ${table} where workspace_id = 7 order by ${columns[table]!.includes('payload') ? 'seq' : '1, 2'}`,
    )
  return rows
}
async function pictureOf(url: string) {
  const columns: Record<string, string> = {}
  for (const table of TABLES) columns[table] = (await columnsOf(url, table))[0]!.names
  return { columns, rows: await rowsOf(url, columns) }
}

test('AC-29: a database of the first version is brought up to date by the start of a server, and missions work', async () => {
  const url = await setUpBefore()
  const w = await serving(url)
  const mission = await makeMission(w, [{ tempId: 'a' }])
  expect(await workOff(w, 'alpha', 0)).toEqual(['a'])
  expect((await showMission(w, mission)).state).toBe('completed')
  const applied = await run(url, 'select name from schema_migrations order by version')
  expect(applied.map(({ name }) => name)).toEqual(OURS.map(({ name }) => name))
})

test('AC-32: rows that existed before the migration are the same after it', async () => {
  const url = await setUpBefore()
  const before = await pictureOf(url)
  for (const rows of Object.values(before.rows)) expect(rows).not.toEqual([])
  await migrate(url)
  expect(await rowsOf(url, before.columns)).toEqual(before.rows)
})
