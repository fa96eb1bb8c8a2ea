import { randomInt } from 'node:crypto'
import type pg from 'pg'
import { Refused } from '../../../core/errors.ts'
import type { EventType, Origin } from '../../../core/events.ts'
import { uuidCarrying } from '../../../core/ids.ts'
import { DEFAULT_LIMITS, type Limits, LimitsSchema } from '../../../core/limits.ts'
import { FOLLOWERS } from '../../log-followers.ts'
import { connectionFrom } from '../connection/connect.ts'
import type { Connections } from '../kernel/connections.ts'
import { inside, scopedQuery } from '../kernel/scoped-query.ts'
import type { WorkspaceTransaction } from '../kernel/workspace-transaction.ts'

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
  maxActiveSessions: 'max_active_sessions',
  claimHistoryRetentionDays: 'claim_history_retention_days',
  assignTimeoutSeconds: 'assign_timeout_seconds',
  stallTimeoutSeconds: 'stall_timeout_seconds',
  verifyTimeoutSeconds: 'verify_timeout_seconds',
  hangGraceSeconds: 'hang_grace_seconds',
  hangAbortSeconds: 'hang_abort_seconds',
  queueOrder: 'queue_order',
  branchRetentionDays: 'branch_retention_days',
} as const satisfies Record<keyof Limits, string>

const limitFields = Object.keys(LIMIT_COLUMNS) as (keyof Limits)[]
export const limitSelect = limitFields.map((field) => `${LIMIT_COLUMNS[field]} as "${field}"`).join(', ')

export async function createWorkspace(
  store: Connections,
  name: string,
  by: Origin | string,
  limits: Partial<Limits> = {},
): Promise<Workspace> {
  // The id is reserved before the transaction, so that the transaction can name it and pass the row policies.
  const client = await connectionFrom(store.writers)
  const sequence = `select nextval(pg_get_serial_sequence('workspaces', 'workspace_id')) as id`
  const { rows } = await client.query<{ id: number }>(sequence).finally(() => client.release())
  const workspaceId = rows[0]!.id
  return store.change(workspaceId, (tx) => insertWorkspace(tx, workspaceId, name, by, limits))
}

/** The workspace of this name, created unless it exists. Of several with the same name, the oldest. */
export async function ensureWorkspace(
  store: Connections,
  name: string,
  limits: Partial<Limits>,
): Promise<number> {
  if (name === FIRST_NAME) {
    await ensureFirstWorkspace(store, limits)
    return FIRST_WORKSPACE
  }
  const find = () =>
    scopedQuery<{ id: number }>(store.writers, 'baton.workspace_name', name, {
      text: 'select workspace_id as id from workspaces where name = $1 order by workspace_id limit 1',
      values: [name],
    })
  const [known] = await find()
  if (known) return known.id
  await createWorkspace(store, name, SYSTEM, limits)
  // Two nodes may have created one at the same time; both use the older one.
  return (await find())[0]!.id
}

export const FIRST_WORKSPACE = 1
const FIRST_NAME = 'default'
/** A workspace that a start or a library creates has no caller. */
const SYSTEM: Origin = { actor: 'system' }

/** Workspace 1, created unless it exists. */
export async function ensureFirstWorkspace(store: Connections, limits: Partial<Limits> = {}): Promise<void> {
  const make = async (tx: WorkspaceTransaction) => {
    const { rowCount } = await tx.query('select 1 from workspaces where workspace_id = $1', [FIRST_WORKSPACE])
    if (rowCount === 0) await insertWorkspace(tx, FIRST_WORKSPACE, FIRST_NAME, SYSTEM, limits)
  }
  await store.change(FIRST_WORKSPACE, make).catch((error) => {
    // Another node created it between our read and our write.
    if ((error as { code?: string }).code !== '23505') throw error
  })
}

async function insertWorkspace(
  tx: WorkspaceTransaction,
  workspaceId: number,
  name: string,
  by: Origin | string,
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
  await tx.query('insert into log_cursors (workspace_id, follower) select $1, unnest($2::text[])', [
    workspaceId,
    Object.keys(FOLLOWERS),
  ])
  await tx.query(
    `insert into limits (workspace_id, ${Object.values(LIMIT_COLUMNS).join(', ')})
     values ($1, ${limitFields.map((_, i) => `$${i + 2}`).join(', ')})`,
    [workspaceId, ...limitFields.map((field) => given[field])],
  )
  tx.emit('workspace_created', by, { name })
  return { workspaceId, uuid, name }
}

export async function readWorkspace(pool: pg.Pool, workspaceId: number): Promise<Workspace> {
  const text = 'select uuid, name from workspaces where workspace_id = $1'
  const [row] = await inside<Omit<Workspace, 'workspaceId'>>(pool, workspaceId, text)
  return { workspaceId, ...row! }
}

export async function readLimitsOf(pool: pg.Pool, workspaceId: number): Promise<Limits> {
  const [limits] = await scopedQuery<Limits & pg.QueryResultRow>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    {
      text: `select ${limitSelect} from limits where workspace_id = $1`,
      values: [workspaceId],
    },
  )
  return limits!
}

/** How much of each limit is in use. */
const IN_USE = {
  maxConcurrentClaims:
    'select active_claims as used from workspace_counters where workspace_id = $1 for update',
  maxActiveSessions:
    'select count(*) as used from sessions where workspace_id = $1 and declared and ended_at is null',
  maxGenerationsPerTask: `select coalesce(max(generation), 0) as used from tasks
    where workspace_id = $1 and state not in ('completed', 'failed', 'cancelled', 'skipped')`,
} as const satisfies Partial<Record<keyof Limits, string>>

/** A limit below current use would be exceeded as soon as it is set. Every such limit is named. */
async function refuseBelowUse(
  tx: WorkspaceTransaction,
  workspaceId: number,
  changed: Partial<Limits>,
): Promise<void> {
  const errors: { field: string; message: string }[] = []
  for (const [field, text] of Object.entries(IN_USE) as [keyof typeof IN_USE, string][]) {
    const wanted = changed[field]
    if (wanted === undefined) continue
    const used = (await tx.query(text, [workspaceId])).rows[0].used as number
    if (used > wanted) errors.push({ field, message: `would be ${wanted}, and ${used} are in use` })
  }
  if (errors.length > 0)
    throw new Refused(
      'LIMIT_BELOW_USE',
      errors.map(({ field, message }) => `${field} ${message}.`).join(' '),
      {
        errors,
      },
    )
}

export async function changeLimits(
  store: Connections,
  workspaceId: number,
  changed: Partial<Limits>,
  by: Origin,
  allowed: (present: Limits) => void = () => undefined,
): Promise<Limits> {
  return store.change(workspaceId, async (tx) => {
    const { rows } = await tx.query(`select ${limitSelect} from limits where workspace_id = $1 for update`, [
      workspaceId,
    ])
    allowed(rows[0])
    const limits: Limits = { ...rows[0], ...changed }
    await refuseBelowUse(tx, workspaceId, changed)
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
      tx.emit('limits_changed', by, { changed })
    }
    return limits
  })
}

/** An event without a change of its own. */
export const recordEvent = (
  store: Connections,
  workspaceId: number,
  type: EventType,
  by: Origin,
  payload: Record<string, unknown>,
) => store.change(workspaceId, async (tx) => tx.emit(type, by, payload))
