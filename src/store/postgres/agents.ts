import { randomInt } from 'node:crypto'
import type pg from 'pg'
import { uuidCarrying } from '../../core/ids.ts'
import { inWorkspace } from './workspace-transaction.ts'

export interface Agent {
  slug: string
  capabilities: string[]
}

export interface Session {
  id: string
  session: string
  agent: string | null
  userId: string | null
  startedAt: number
  lastSeenAt: number
  endedAt: number | null
}

export interface HeldTask {
  taskId: number
  uuid: string
  key: string | null
  generation: number
  agent: string
  leaseExpiresAt: number
}

const outsideId = () => uuidCarrying(randomInt(2 ** 47), Date.now(), randomInt(2 ** 22))

/** The agent of this slug, registered as an external one when it is new. */
export async function rememberAgent(
  pool: pg.Pool,
  workspaceId: number,
  slug: string,
  actor: string,
): Promise<Agent> {
  return inWorkspace(pool, workspaceId, async (tx) => {
    const known = await tx.query(
      'select slug, capabilities from agents where workspace_id = $1 and slug = $2',
      [workspaceId, slug],
    )
    if (known.rows[0]) return known.rows[0]
    const { rowCount } = await tx.query(
      'insert into agents (workspace_id, agent_id, slug, name) values ($1, $2, $3, $3) on conflict do nothing',
      [workspaceId, outsideId(), slug],
    )
    if (rowCount === 1) tx.emit('agent_registered', actor, { agent: slug, by: actor })
    return { slug, capabilities: [] }
  })
}

const SESSION_COLUMNS = `session_id as id, session, agent, user_ref as "userId", ms(started_at) as "startedAt",
  ms(last_seen_at) as "lastSeenAt", ms(ended_at) as "endedAt"`

/** The session of this name, remembered on first use. An ended session that comes back is seen again, not begun again. */
export async function rememberSession(
  pool: pg.Pool,
  workspaceId: number,
  given: { session: string; agent?: string | undefined; userId?: string | undefined },
  actor: string,
): Promise<{ session: Session; isNew: boolean }> {
  return inWorkspace(pool, workspaceId, async (tx) => {
    const { rows } = await tx.query(
      `insert into sessions as s (workspace_id, session, session_id, agent, user_ref) values ($1, $2, $3, $4, $5)
       on conflict (workspace_id, session) do update set last_seen_at = clock_timestamp(), ended_at = null,
         agent = coalesce(excluded.agent, s.agent), user_ref = coalesce(excluded.user_ref, s.user_ref)
       returning ${SESSION_COLUMNS}, xmax = 0 as "isNew"`,
      [workspaceId, given.session, outsideId(), given.agent ?? null, given.userId ?? null],
    )
    const { isNew, ...session } = rows[0]
    if (isNew) tx.emit('session_started', actor, { session: given.session })
    return { session, isNew }
  })
}

export async function findSession(
  pool: pg.Pool,
  workspaceId: number,
  nameOrId: string,
): Promise<Session | null> {
  return inWorkspace(pool, workspaceId, async (tx) => {
    const { rows } = await tx.query(
      `select ${SESSION_COLUMNS} from sessions where workspace_id = $1 and (session = $2 or session_id::text = $2) limit 1`,
      [workspaceId, nameOrId],
    )
    return rows[0] ?? null
  })
}

export async function touchSession(pool: pg.Pool, workspaceId: number, session: string): Promise<void> {
  await inWorkspace(pool, workspaceId, (tx) =>
    tx.query(
      'update sessions set last_seen_at = clock_timestamp(), ended_at = null where workspace_id = $1 and session = $2',
      [workspaceId, session],
    ),
  )
}

export async function endSession(
  pool: pg.Pool,
  workspaceId: number,
  session: string,
  actor: string,
): Promise<void> {
  await inWorkspace(pool, workspaceId, async (tx) => {
    const { rowCount } = await tx.query(
      'update sessions set ended_at = clock_timestamp() where workspace_id = $1 and session = $2 and ended_at is null',
      [workspaceId, session],
    )
    if (rowCount === 1) tx.emit('session_ended', actor, { session, reason: 'closed' })
  })
}

/** What a session holds now. The active claims of a workspace are few, so the index on them is all this needs. */
export async function heldBy(pool: pg.Pool, workspaceId: number, session: string): Promise<HeldTask[]> {
  return inWorkspace(pool, workspaceId, async (tx) => {
    const { rows } = await tx.query(
      `select t.id as "taskId", t.uuid, t.key, t.generation, t.agent, ms(t.lease_expires_at) as "leaseExpiresAt"
         from claims c join tasks t on t.workspace_id = c.workspace_id and t.id = c.task_id
        where c.workspace_id = $1 and c.state = 'active' and c.session = $2 order by c.acquired_at, c.task_id`,
      [workspaceId, session],
    )
    return rows
  })
}
