import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../src/embedded-postgres/start.ts'
import { findDatabase } from '../../src/postgres/connection/database.ts'
import { migrate, readMigrations } from '../../src/store/migrate.ts'
import { SERVER_ROLE } from '../../src/store/store.ts'
import { CLAIMS } from '../bare.ts'
import { openLoopDuring } from '../drive.ts'
import { cpuMsOfProcessTree } from '../server-cpu.ts'
import { fill } from '../setup.ts'

export interface MigrationFigures {
  tasks: number
  failed: number
  tookMs: number
  /** CPU of Postgres meanwhile, claims included: what it takes on a machine that does nothing else. */
  cpuMs: number
  /** Claims while it was migrated, by the statement an earlier version would have sent. */
  claims: number
  slowestClaimMs: number
}

const WORKSPACE = 1
const CLAIMS_A_SECOND = 100
const CONNECTIONS = 4

/**
 * A database of the first version with so many tasks, a tenth of them dead letters, is migrated to this version by a node that
 * starts, while others claim.
 */
export async function migration(tasks: number, say: (what: string) => void): Promise<MigrationFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'))
  const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), log: () => undefined })
  const admin = new pg.Pool({
    connectionString: postgres.url,
    max: CONNECTIONS,
    options: '-c search_path=baton',
  })
  admin.on('error', () => undefined)
  try {
    say(`r a database of the first version with ${tasks} tasks`)
    const database = await findDatabase(postgres.url)
    await migrate(database, SERVER_ROLE, readMigrations().slice(0, 1))
    const failed = Math.floor(tasks / 10)
    const { firstId } = await firstVersion(admin, tasks, failed)
    say('r its migration')
    // The dead letters are the first.
    const claim = (index: number) =>
      admin.query({
        name: 'claim',
        text: CLAIMS,
        values: [WORKSPACE, [firstId + failed + index], 1],
      })
    const cpuBefore = cpuMsOfProcessTree(postgres.pid())
    const { tookMs, latencies } = await openLoopDuring(
      () => migrate(database, SERVER_ROLE),
      CLAIMS_A_SECOND,
      claim,
    )
    const cpuMs = cpuMsOfProcessTree(postgres.pid()) - cpuBefore
    return { tasks, failed, tookMs, cpuMs, claims: latencies.length, slowestClaimMs: Math.max(...latencies) }
  } finally {
    await admin.end()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Tasks with an event each; half of those that follow wait for the previous one, and some are reserved for agents. */
async function firstVersion(admin: pg.Pool, tasks: number, failed: number) {
  await admin.query(
    `insert into workspaces (workspace_id, uuid, name) values (${WORKSPACE}, gen_random_uuid(), 'old')`,
  )
  await admin.query(`insert into workspace_counters (workspace_id, last_seq) values (${WORKSPACE}, ${tasks})`)
  const lot = await fill(admin, WORKSPACE, tasks)
  await admin.query(
    `update tasks set state = 'failed', rank = null, completed_at = now(), generation = 1, claim_state = 'released', session = 's',
            agent = 'a', acquired_at = now() where workspace_id = $1 and id < $2`,
    [WORKSPACE, lot.firstId + failed],
  )
  await admin.query(
    `update task_details set exhausted = 'attempts', error = 'It failed.' where workspace_id = $1 and task_id < $2`,
    [WORKSPACE, lot.firstId + failed],
  )
  await admin.query(
    `insert into task_dependencies (workspace_id, task_id, depends_on, trigger_rule)
     select $1, id, id - 1, 'all_success' from generate_series($2::bigint, $3::bigint, 2) id`,
    [WORKSPACE, lot.firstId + Math.floor(tasks / 2), lot.firstId + tasks - 1],
  )
  await admin.query(
    `insert into events (workspace_id, seq, type, task_id, to_state, actor, payload, at)
     select $1, n, 'task_created', $2::bigint + n - 1, 'queued', 'system', '{"title":"task"}', now() from generate_series(1, $3::int) n`,
    [WORKSPACE, lot.firstId, tasks],
  )
  await admin.query('vacuum (analyze) tasks, task_details, task_dependencies, events')
  await admin.query('checkpoint')
  return lot
}
