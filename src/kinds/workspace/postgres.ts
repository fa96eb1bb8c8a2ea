import { randomInt } from 'node:crypto'
import type pg from 'pg'
import { firstAnswer } from '../../kernel/batch/first-answer.ts'
import type { StoredReply } from '../../kernel/batch/requests.ts'
import { connectionFrom, isTransient } from '../../postgres/connection/unavailable.ts'
import type { Connections } from '../../postgres/statements/connections.ts'
import { bind } from '../../postgres/statements/connections.ts'
import type { Gear } from '../../postgres/statements/gear.ts'
import { plainRows } from '../../postgres/statements/plain-rows.ts'
import { arrayLiteral } from '../../postgres/statements/rows.ts'
import { inside, scopedQuery } from '../../postgres/statements/scoped-query.ts'
import { send } from '../../postgres/statements/send.ts'
import {
  type Bound,
  begin,
  clock,
  insertReplies,
  nameWorkspace,
  statement,
  storedReplies,
} from '../../postgres/statements/statements.ts'
import type { StoredKind } from '../../postgres/statements/stored-kind.ts'
import { uuidCarrying } from '../../pure/ids.ts'
import { FOLLOWERS } from '../all.ts'
import type { Origin } from '../events.ts'
import { keyRows } from '../key/postgres.ts'
import {
  type AskedFrom,
  type NewWorkspaceChanges,
  type NewWorkspaceView,
  newWorkspace,
  type WorkspaceWanted,
} from './create.ts'
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
  tables: {
    limits: 'select, insert, update',
    workspaces: 'select, insert',
    workspace_counters: 'select, insert, update',
  },
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

export const createWorkspace = (
  store: Connections,
  name: string,
  by: Origin | string,
  limits: Partial<Limits> = {},
) => makeWorkspace(store, { name, limits }, by)

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
  const uuid = outsideId(workspaceId)
  const origin = typeof by === 'string' ? { actor: by } : by
  await store.transact(workspaceId, newWorkspace(uuid, wanted, origin, from))
  return { workspaceId, uuid, name: wanted.name }
}

const outsideId = (workspaceId: number) => uuidCarrying(workspaceId, Date.now(), randomInt(2 ** 22))

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
  const first = { name: FIRST_NAME, limits }
  await store.transact(FIRST_WORKSPACE, newWorkspace(outsideId(FIRST_WORKSPACE), first, SYSTEM))
}

const isThere = statement('find_workspace', 'select from workspaces where workspace_id = $1')
const insertWorkspace = statement(
  'insert_workspace',
  'insert into workspaces (workspace_id, uuid, name) values ($1, $2, $3)',
)
const insertCounters = statement(
  'insert_workspace_counters',
  'insert into workspace_counters (workspace_id) values ($1)',
)
const insertCursors = statement(
  'insert_log_cursors',
  'insert into log_cursors (workspace_id, follower) select $1, unnest($2::text[])',
)

/** In the same transaction, what belongs to another workspace than the new one. */
const inAnother = (workspaceId: number, other: number, statements: readonly Bound[]): Bound[] => [
  [nameWorkspace, [String(other)]],
  ...statements,
  [nameWorkspace, [String(workspaceId)]],
]

const FIRST_COME = ['idempotency_keys_pkey', 'workspaces_pkey']

export const newWorkspaceGear: Gear<AskedFrom | null, NewWorkspaceView, NewWorkspaceChanges> = {
  async lockAndRead(client, workspaceId, from) {
    const { workspaceId: other = workspaceId, idempotency } = from ?? {}
    const keys = idempotency ? [idempotency.key] : []
    const read: Bound = [storedReplies, [other, arrayLiteral(keys)]]
    const statements: Bound[] = [
      [begin, []],
      ...inAnother(workspaceId, other, [read]),
      [isThere, [workspaceId]],
      [clock, []],
    ]
    const answers = (await send(client, statements)).map(({ rows }) => rows)
    const now = answers.at(-1)![0]![0] as number
    const [, bodyHash, reply] = answers[2]![0] ?? []
    const stored = answers[2]!.length > 0 ? ({ bodyHash, reply } as StoredReply) : undefined
    return {
      now,
      isThere: answers.at(-2)!.length > 0,
      firstAnswer: idempotency ? firstAnswer(idempotency, stored, now) : null,
    }
  },
  lastWrites(workspaceId, _, { made, reply, events }) {
    if (!made) return null
    const { uuid, name, limits, owner } = made
    const writes: Bound[] = [
      [insertWorkspace, [workspaceId, uuid, name]],
      [insertCounters, [workspaceId]],
      [insertCursors, [workspaceId, Object.keys(FOLLOWERS)]],
      limitRows.insert(workspaceId, [limits]),
    ]
    if (owner) writes.push(keyRows.insert(workspaceId, [owner]))
    if (reply) {
      const values = [[reply.key], [reply.bodyHash], [JSON.stringify(reply.reply)]]
      const stored = insertReplies(reply.workspaceId, values)
      writes.push(...inAnother(workspaceId, reply.workspaceId, [stored]))
    }
    return { writes, events }
  },
  // Another was first, with the idempotency key or with workspace 1: the next attempt finds it.
  readsAfter: (error, reads) =>
    isTransient(error) || FIRST_COME.includes((error as { constraint?: string }).constraint ?? '')
      ? reads
      : null,
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

export const workspaceReads = ({ readers }: Connections) => bind(readers, { read: readWorkspace })
