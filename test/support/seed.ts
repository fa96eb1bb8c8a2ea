import { randomUUID } from 'node:crypto'
import { registerNode } from '../../src/store/postgres/nodes.ts'
import { commandOffice } from '../../src/store/postgres/offices.ts'
import { PostgresStore } from '../../src/store/postgres/store.ts'
import { createWorkspace } from '../../src/store/postgres/workspaces.ts'
import { freshDatabase } from './database.ts'
import { superuser } from './nodes.ts'
import { partsOf } from './parts.ts'
import { granted, holder, Work } from './tasks.ts'

/** A workspace with rows in every table: tasks of each kind, and all that goes with them. */
export interface Seeded {
  workspace: number
  queued: number
  held: number
  waiting: number
  completed: number
  /** A project, and a task of it that is held on its track A. */
  project: number
  onTrack: number
  /** A task that was divided, and a part of it. */
  whole: number
  part: number
}

export interface SeededDatabase {
  url: string
  store: PostgresStore
  a: Seeded
  b: Seeded
  close: () => Promise<void>
}

export async function seededDatabase(): Promise<SeededDatabase> {
  const { url, drop } = await freshDatabase()
  const store = await PostgresStore.open(url)
  const [a, b] = [await seed(store, url), await seed(store, url)]
  const nodeId = randomUUID()
  await registerNode(store.house, { nodeId, name: 'node', pid: 1, version: 'test' })
  await commandOffice(store.house, { kind: 'take', nodeId, leaseMs: 60_000 })
  const close = async () => {
    await store.close()
    await drop()
  }
  return { url, store, a, b, close }
}

async function seed(store: PostgresStore, url: string): Promise<Seeded> {
  const { workspaceId: workspace } = await createWorkspace(store.writers, 'test', 'test')
  const work = new Work(store, workspace)
  const alpha = holder('alpha')
  const queued = await work.under('first-request').create({ key: 'A-001-queued' })
  const held = await work.create()
  await work.claim(held, alpha)
  const waiting = await work.create({}, [held])
  const completed = await work.create()
  await work.submit(completed, granted(await work.claim(completed, alpha)))
  const project = await store.project(workspace, 'shop')
  await store.setTrack(workspace, project, 'A', 1)
  const onTrack = await work.create({ key: 'A-001-on-track', projectId: project })
  await work.claim(onTrack, alpha)
  const whole = await work.create({ key: 'A-002-whole' })
  const [part] = await work.createAll(partsOf(whole, 1))
  await work.register('a-worker', 1)
  await superuser(url, async (client) => {
    await client.query('set search_path = baton')
    await client.query(
      `insert into api_keys (workspace_id, key_id, name, key_hash, prefix, role)
       values ($1, $2::uuid, 'ci', sha256($2::uuid::text::bytea), 'bt_', 'member')`,
      [workspace, randomUUID()],
    )
    const agent = 'insert into agents (workspace_id, agent_id, slug, name) values ($1, $2, $3, $3)'
    await client.query(agent, [workspace, randomUUID(), alpha.agent])
    // Of a name that no other workspace has.
    const watched = `agent-of-${workspace}`
    await client.query(agent, [workspace, randomUUID(), watched])
    await client.query(
      `insert into agent_health (workspace_id, slug, last_seen_at, has_beaten, status) values ($1, $2, now(), true, 'healthy')`,
      [workspace, watched],
    )
    await client.query('insert into follow_cursors (workspace_id) values ($1) on conflict do nothing', [
      workspace,
    ])
  })
  const ids = { queued: queued.id, held: held.id, waiting: waiting.id, completed: completed.id }
  return { workspace, ...ids, project, onTrack: onTrack.id, whole: whole.id, part: part!.id }
}

/** What belongs to no workspace but to all nodes together. */
export const HOUSE_TABLES = ['leader_leases', 'nodes']

/** Every table of the schema that belongs to workspaces, present and future. */
export async function workspaceTables(url: string): Promise<string[]> {
  const { rows } = await superuser(url, (client) =>
    client.query<{ name: string }>(
      `select relname as name from pg_class
        where relnamespace = 'baton'::regnamespace and relkind in ('r', 'p') and relname <> 'schema_migrations'
        order by relname`,
    ),
  )
  return rows.map(({ name }) => name).filter((name) => !HOUSE_TABLES.includes(name))
}
