import { randomInt } from 'node:crypto'
import type pg from 'pg'
import { Refused } from '../../core/errors.ts'
import { uuidCarrying } from '../../core/ids.ts'
import { DEFAULT_LIMITS, type Limits, LimitsSchema } from '../../core/limits.ts'
import { connectionFrom } from './connect.ts'
import { inWorkspace, type WorkspaceTransaction } from './workspace-transaction.ts'

export interface Workspace {
  workspaceId: number
  uuid: string
  name: string
}

const LIMIT_COLUMNS = {
  minLeaseSeconds: 'min_lease_seconds',
  maxLeaseSeconds: 'max_lease_seconds',
  maxConcurrentClaims: 'max_concurrent_claims',
  maxGenerationsPerTask: 'max_generations_per_task',
  maxResultBytes: 'max_result_bytes',
  lateResults: 'late_results',
} as const satisfies Record<keyof Limits, string>

const limitFields = Object.keys(LIMIT_COLUMNS) as (keyof Limits)[]
const limitSelect = limitFields.map((field) => `${LIMIT_COLUMNS[field]} as "${field}"`).join(', ')

export async function createWorkspace(
  pool: pg.Pool,
  name: string,
  actor: string,
  limits: Partial<Limits> = {},
): Promise<Workspace> {
  // The number is taken before the transaction, so that the transaction can name it and the policies let it in.
  const client = await connectionFrom(pool)
  const sequence = `select nextval(pg_get_serial_sequence('workspaces', 'workspace_id')) as id`
  const { rows } = await client.query<{ id: number }>(sequence).finally(() => client.release())
  const workspaceId = rows[0]!.id
  return inWorkspace(pool, workspaceId, (tx) => insertWorkspace(tx, workspaceId, name, actor, limits))
}

export const FIRST_WORKSPACE = 1

/** Workspace 1, made unless it is there. */
export async function ensureFirstWorkspace(pool: pg.Pool): Promise<void> {
  await inWorkspace(pool, FIRST_WORKSPACE, async (tx) => {
    const { rowCount } = await tx.query('select 1 from workspaces where workspace_id = $1', [FIRST_WORKSPACE])
    if (rowCount === 0) await insertWorkspace(tx, FIRST_WORKSPACE, 'default', 'system', {})
  }).catch((error) => {
    // Another node made it between our look and our write.
    if ((error as { code?: string }).code !== '23505') throw error
  })
}

async function insertWorkspace(
  tx: WorkspaceTransaction,
  workspaceId: number,
  name: string,
  actor: string,
  limits: Partial<Limits>,
): Promise<Workspace> {
  const uuid = uuidCarrying(workspaceId, Date.now(), randomInt(2 ** 22))
  const given = LimitsSchema.parse({ ...DEFAULT_LIMITS, ...limits })
  await tx.query('insert into workspaces (workspace_id, uuid, name) values ($1, $2, $3)', [
    workspaceId,
    uuid,
    name,
  ])
  await tx.query('insert into workspace_counters (workspace_id) values ($1)', [workspaceId])
  await tx.query(
    `insert into limits (workspace_id, ${Object.values(LIMIT_COLUMNS).join(', ')})
     values ($1, ${limitFields.map((_, i) => `$${i + 2}`).join(', ')})`,
    [workspaceId, ...limitFields.map((field) => given[field])],
  )
  tx.emit('workspace_created', actor, { name })
  return { workspaceId, uuid, name }
}

export async function readWorkspace(pool: pg.Pool, workspaceId: number): Promise<Workspace> {
  return inWorkspace(pool, workspaceId, async (tx) => {
    const { rows } = await tx.query('select uuid, name from workspaces where workspace_id = $1', [
      workspaceId,
    ])
    return { workspaceId, ...rows[0] }
  })
}

export async function readLimitsOf(pool: pg.Pool, workspaceId: number): Promise<Limits> {
  return inWorkspace(pool, workspaceId, async (tx) => {
    const { rows } = await tx.query(`select ${limitSelect} from limits where workspace_id = $1`, [
      workspaceId,
    ])
    return rows[0]
  })
}

export async function changeLimits(
  pool: pg.Pool,
  workspaceId: number,
  changed: Partial<Limits>,
  actor: string,
  allowed: (present: Limits) => void = () => undefined,
): Promise<Limits> {
  return inWorkspace(pool, workspaceId, async (tx) => {
    const { rows } = await tx.query(`select ${limitSelect} from limits where workspace_id = $1 for update`, [
      workspaceId,
    ])
    allowed(rows[0])
    const limits: Limits = { ...rows[0], ...changed }
    if (limits.minLeaseSeconds > limits.maxLeaseSeconds) {
      const field = 'minLeaseSeconds' in changed ? 'minLeaseSeconds' : 'maxLeaseSeconds'
      throw Refused.field('VALIDATION_FAILED', field, 'would put minLeaseSeconds above maxLeaseSeconds')
    }
    const fields = limitFields.filter((field) => changed[field] !== undefined)
    if (fields.length > 0) {
      await tx.query(
        `update limits set ${fields.map((field, i) => `${LIMIT_COLUMNS[field]} = $${i + 2}`).join(', ')} where workspace_id = $1`,
        [workspaceId, ...fields.map((field) => changed[field])],
      )
      tx.emit('limits_changed', actor, { changed })
    }
    return limits
  })
}
