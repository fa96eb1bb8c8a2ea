import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbeddedPostgres } from '../src/embedded-postgres/start.ts'
import { createWorkspace } from '../src/kinds/workspace/postgres.ts'
import { uuidCarrying } from '../src/pure/ids.ts'
import { PostgresStore } from '../src/store/store.ts'

/** Tasks made for measuring: consecutive ids, with UUIDs that can be computed from them. */
export interface Lot {
  firstId: number
  count: number
  madeAt: number
}

export const uuidOf = (lot: Lot, index: number) => uuidCarrying(lot.firstId + index, lot.madeAt, 0)

export interface Bed {
  store: PostgresStore
  admin: pg.Pool
  workspaceId: number
  /** The Postgres server. */
  pid: number
  /** Queued tasks, written straight into the tables: creating them is not what is measured. */
  fill(count: number): Promise<Lot>
  /** Vacuumed and checkpointed, so that one measurement does not pay for the previous one. */
  calm(): Promise<void>
  close(): Promise<void>
}

/** A durable embedded Postgres of its own, with one workspace that has no practical limits. */
export async function makeBed(): Promise<Bed> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'))
  const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), log: () => undefined })
  const store = await PostgresStore.open(postgres.url)
  const admin = new pg.Pool({ connectionString: postgres.url, max: 4, options: '-c search_path=baton' })
  admin.on('error', () => undefined)
  const limits = { minLeaseSeconds: 1, maxConcurrentClaims: 10_000_000, maxGenerationsPerTask: 1_000_000 }
  const { workspaceId } = await createWorkspace(store, 'bench', 'bench', limits)
  return {
    store,
    admin,
    workspaceId,
    pid: postgres.pid(),
    fill: (count) => fill(admin, workspaceId, count),
    async calm() {
      await admin.query('vacuum (analyze) tasks, attempts, events')
      await admin.query('checkpoint')
    },
    async close() {
      await Promise.all([store.close(), admin.end()])
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function fill(admin: pg.Pool, workspaceId: number, count: number): Promise<Lot> {
  const madeAt = Date.now()
  const { rows } = await admin.query(
    `select setval('task_ids', nextval('task_ids') + $1)::float8 - $1 as "firstId"`,
    [count],
  )
  const firstId = Number(rows[0].firstId)
  const time = madeAt.toString(16).padStart(12, '0')
  await admin.query(
    `insert into tasks (workspace_id, id, uuid, state, priority, max_retries, rank, review, created_at, updated_at)
     select $1, id, ($4 || substr(hex, 1, 1) || '-' || substr(hex, 2))::uuid, 'queued', 5, 3, id, 'none', now(), now()
       from (select id, lpad(to_hex(id), 13, '0') as hex from generate_series($2::bigint, $2::bigint + $3 - 1) id) made`,
    [workspaceId, firstId, count, `${time.slice(0, 8)}-${time.slice(8)}-7000-800`],
  )
  await admin.query(
    `insert into task_details (workspace_id, task_id, title, task_type)
     select $1, id, 'task', 'coding' from generate_series($2::bigint, $2::bigint + $3 - 1) id`,
    [workspaceId, firstId, count],
  )
  return { firstId, count, madeAt }
}
