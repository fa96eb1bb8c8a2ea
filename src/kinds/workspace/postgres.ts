import { randomInt } from 'node:crypto'
import type pg from 'pg'
import { firstAnswer } from '../../kernel/batch/first-answer.ts'
import type { Idempotency, StoredReply } from '../../kernel/batch/requests.ts'
import { FOLLOWERS } from '../../kernel/store/log-followers.ts'
import { connectionFrom } from '../../postgres/connection/connect.ts'
import type { Connections } from '../../postgres/statements/connections.ts'
import { plainRows } from '../../postgres/statements/plain-rows.ts'
import { arrayLiteral } from '../../postgres/statements/rows.ts'
import { inside, scopedQuery } from '../../postgres/statements/scoped-query.ts'
import {
  type Bound,
  insertReplies,
  nameWorkspace,
  statement,
  storedReplies,
} from '../../postgres/statements/statements.ts'
import type { StoredKind } from '../../postgres/statements/stored-kind.ts'
import type { WorkspaceTransaction } from '../../postgres/statements/workspace-transaction.ts'
import { Refused } from '../../pure/errors.ts'
import { uuidCarrying } from '../../pure/ids.ts'
import { secretWasGiven } from '../../pure/repeated.ts'
import type { Origin } from '../events.ts'
import { keyRows } from '../key/postgres.ts'
import { newWorkspace, type WorkspaceWanted } from './create.ts'
import type { Limits } from './limits.ts'
import { LIMIT_FIELDS, type LimitUse, THE_WORKSPACE } from './record.ts'

const limitRows = plainRows('limits', LIMIT_FIELDS, { keyWidth: 0 })

// The limits, locked. $1 workspace.
const lockLimits = statement(
  'lock_limits',
  `select ${limitRows.select('l')} from limits l where l.workspace_id = $1 for no key update`,
)
// How much of each limit is in use: the counter of claims is locked, so that no claim is granted meanwhile. $1 workspace.
const limitUse = statement(
  'limit_use',
  `select c.active_claims,
          (select count(*) from sessions s where s.workspace_id = $1 and s.declared and s.ended_at is null),
          (select coalesce(max(t.generation), 0) from tasks t
            where t.workspace_id = $1 and t.state not in ('completed', 'failed', 'cancelled', 'skipped'))
     from workspace_counters c where c.workspace_id = $1 for no key update of c`,
)

/** The workspace itself: its limits. */
export const storedWorkspace: StoredKind<'workspace'> = {
  tables: { limits: 'select, insert, update' },
  ask(questions, { kinds }) {
    if (kinds.workspace.length === 0) return null
    const limits = questions.addIn(lockLimits, [])
    const use = questions.addIn(limitUse, [])
    return () => {
      const [maxConcurrentClaims, maxActiveSessions, maxGenerationsPerTask] = use()[0] as number[]
      const used = { maxConcurrentClaims, maxActiveSessions, maxGenerationsPerTask } as LimitUse
      const record = { limits: limitRows.read(limits()[0]!) }
      return { view: { seen: new Map([[THE_WORKSPACE, { record, holding: [], used }]]), counted: 0 } }
    }
  },
  write(workspaceId, _view, { kinds }) {
    const { written } = kinds.workspace
    return written.length === 0
      ? []
      : [
          limitRows.upsert(
            workspaceId,
            written.map(({ limits }) => limits),
          ),
        ]
  },
}

/** Of limits l. */
export const limitSelect = limitRows.named('l')

export interface Workspace {
  workspaceId: number
  uuid: string
  name: string
}

/** A request of another workspace for a new one, under an idempotency key of that workspace. */
interface AskedFrom {
  workspaceId: number
  idempotency?: Idempotency | undefined
}

export const createWorkspace = (
  store: Connections,
  name: string,
  by: Origin | string,
  limits: Partial<Limits> = {},
) => makeWorkspace(store, { name, limits }, by)

/** A workspace is made in its own transaction, not in a batch: there is nothing yet that a batch could lock. */
export async function makeWorkspace(
  store: Connections,
  wanted: WorkspaceWanted,
  by: Origin | string,
  from?: AskedFrom,
): Promise<Workspace> {
  // The id is reserved before the transaction, so that the transaction can name it and pass the row policies.
  const client = await connectionFrom(store.writers)
  const sequence = `select nextval(pg_get_serial_sequence('workspaces', 'workspace_id')) as id`
  const { rows } = await client.query<{ id: number }>(sequence).finally(() => client.release())
  const workspaceId = rows[0]!.id
  const make = () => store.change(workspaceId, (tx) => insertWorkspace(tx, workspaceId, wanted, by, from))
  // Lost a race for the idempotency key: the second attempt finds the first answer.
  return make().catch((error) =>
    isConflict(error, 'idempotency_keys_pkey') ? make() : Promise.reject(error),
  )
}

const isConflict = (error: unknown, constraint?: string) => {
  const { code, constraint: violated } = error as { code?: string; constraint?: string }
  return code === '23505' && (constraint === undefined || violated === constraint)
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
    if (rowCount === 0) await insertWorkspace(tx, FIRST_WORKSPACE, { name: FIRST_NAME, limits }, SYSTEM)
  }
  await store.change(FIRST_WORKSPACE, make).catch((error) => {
    // Another node created it between our read and our write.
    if (!isConflict(error)) throw error
  })
}

async function insertWorkspace(
  tx: WorkspaceTransaction,
  workspaceId: number,
  wanted: WorkspaceWanted,
  by: Origin | string,
  from?: AskedFrom,
): Promise<Workspace> {
  const idempotency = from?.idempotency
  const { now } = (await tx.query('select ms(clock_timestamp()) as now')).rows[0]
  if (idempotency) await inAnother(tx, workspaceId, from, () => refuseRepeat(tx, from, idempotency, now))
  const { name } = wanted
  const uuid = uuidCarrying(workspaceId, Date.now(), randomInt(2 ** 22))
  const origin = typeof by === 'string' ? { actor: by } : by
  const { limits, owner, events } = newWorkspace(wanted, { now, origin })
  const write = ([{ text }, values]: Bound) => tx.query(text, values)
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
  await write(limitRows.insert(workspaceId, [limits]))
  if (owner) await write(keyRows.insert(workspaceId, [owner]))
  for (const { type, payload } of events) tx.emit(type, origin, payload)
  if (idempotency) {
    const { key, bodyHash } = idempotency
    const repeat = JSON.stringify(secretWasGiven(`workspace ${uuid}`))
    await inAnother(tx, workspaceId, from, () =>
      write(insertReplies(from.workspaceId, [[key], [bodyHash], [repeat]])),
    )
  }
  return { workspaceId, uuid, name }
}

/** In the same transaction, what belongs to another workspace than the new one. */
async function inAnother<T>(
  tx: WorkspaceTransaction,
  workspaceId: number,
  other: AskedFrom,
  act: () => Promise<T>,
): Promise<T> {
  await tx.query(nameWorkspace.text, [String(other.workspaceId)])
  const answer = await act()
  await tx.query(nameWorkspace.text, [String(workspaceId)])
  return answer
}

async function refuseRepeat(
  tx: WorkspaceTransaction,
  { workspaceId }: AskedFrom,
  idempotency: Idempotency,
  now: number,
): Promise<void> {
  const [row] = await tx.rows(storedReplies.text, [workspaceId, arrayLiteral([idempotency.key])])
  const [, bodyHash, reply] = row ?? []
  const first = firstAnswer(idempotency, row && ({ bodyHash, reply } as StoredReply), now)
  if (first && !first.ok) throw Refused.because(first)
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
      text: `select ${limitSelect} from limits l where workspace_id = $1`,
      values: [workspaceId],
    },
  )
  return limits!
}
