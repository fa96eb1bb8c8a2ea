import { randomInt } from 'node:crypto'
import type pg from 'pg'
import type { Idempotency } from '../../../core/batch/requests.ts'
import { Refused } from '../../../core/errors.ts'
import type { Origin } from '../../../core/events.ts'
import { uuidCarrying } from '../../../core/ids.ts'
import type { Connections } from '../kernel/connections.ts'
import { inside } from '../kernel/scoped-query.ts'
import type { WorkspaceTransaction } from '../kernel/workspace-transaction.ts'

export interface Project {
  projectId: number
  uuid: string
  slug: string
  name: string
  createdAt: number
}

export interface Track {
  track: string
  maxAgents: number | null
  sequential: boolean
  purpose?: string | null
}

const COLUMNS = 'project_id as "projectId", uuid, slug, name, ms(created_at) as "createdAt"'

export async function findProject(pool: pg.Pool, workspaceId: number, slug: string): Promise<Project | null> {
  const [project] = await inside<Project & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select ${COLUMNS} from projects where workspace_id = $1 and slug = $2`,
    [slug],
  )
  return project ?? null
}

/** Oldest first, after this number. */
export const listProjects = (pool: pg.Pool, workspaceId: number, after: number, limit: number) =>
  inside<Project & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select ${COLUMNS} from projects where workspace_id = $1 and project_id > $2 order by project_id limit $3`,
    [after, limit],
  )

export async function createProject(
  store: Connections,
  workspaceId: number,
  given: { slug: string; name: string },
  by: Origin,
  idempotency: Idempotency | undefined,
): Promise<Project> {
  return store.change(workspaceId, async (tx) => {
    const first = idempotency && (await firstAnswer(tx, workspaceId, idempotency))
    if (first) return first
    const made = await insertProject(tx, workspaceId, given, by)
    if (!made) throw Refused.field('ALREADY_EXISTS', 'slug', 'is the slug of another project')
    if (idempotency)
      await tx.query(
        'insert into idempotency_keys (workspace_id, key, body_hash, reply) values ($1, $2, $3, $4)',
        [workspaceId, idempotency.key, idempotency.bodyHash, JSON.stringify(made)],
      )
    return made
  })
}

/** The stored reply for this idempotency key, if it belongs to this request. */
async function firstAnswer(
  tx: WorkspaceTransaction,
  workspaceId: number,
  { key, bodyHash }: Idempotency,
): Promise<Project | null> {
  const { rows } = await tx.query(
    'select body_hash, reply from idempotency_keys where workspace_id = $1 and key = $2',
    [workspaceId, key],
  )
  if (rows[0] && rows[0].body_hash !== bodyHash)
    throw new Refused('IDEMPOTENCY_KEY_REUSED', 'This idempotency key was used for another request.')
  return rows[0]?.reply ?? null
}

/** The project of this slug, created unless it exists. */
export async function ensureProject(
  store: Connections,
  workspaceId: number,
  given: { slug: string; name: string },
  by: Origin,
): Promise<Project> {
  const known = await findProject(store.writers, workspaceId, given.slug)
  if (known) return known
  const made = await store.change(workspaceId, (tx) => insertProject(tx, workspaceId, given, by))
  return made ?? (await findProject(store.writers, workspaceId, given.slug))!
}

async function insertProject(
  tx: WorkspaceTransaction,
  workspaceId: number,
  { slug, name }: { slug: string; name: string },
  by: Origin,
): Promise<Project | null> {
  const fresh = await tx.query(`select nextval('project_ids')::int as id`)
  const id = fresh.rows[0].id
  const { rows } = await tx.query(
    `insert into projects (workspace_id, project_id, uuid, slug, name) values ($1, $2, $3, $4, $5)
     on conflict do nothing returning ${COLUMNS}`,
    [workspaceId, id, uuidCarrying(id, Date.now(), randomInt(2 ** 22)), slug, name],
  )
  if (rows[0]) tx.emit('project_created', by, { project: slug })
  return rows[0] ?? null
}

export const listTracks = (pool: pg.Pool, workspaceId: number, projectId: number) =>
  inside<Track & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select track, max_agents as "maxAgents", sequential, purpose from tracks
      where workspace_id = $1 and project_id = $2 order by track`,
    [projectId],
  )

export async function setTracks(
  store: Connections,
  workspaceId: number,
  project: Pick<Project, 'projectId' | 'slug'>,
  tracks: readonly Track[],
  by: Origin,
): Promise<void> {
  await store.change(workspaceId, async (tx) => {
    for (const { track, maxAgents, sequential, purpose = null } of tracks) {
      const { rowCount } = await tx.query(
        `insert into tracks as t (workspace_id, project_id, track, max_agents, sequential, purpose) values ($1, $2, $3, $4, $5, $6)
         on conflict (workspace_id, project_id, track) do update
           set max_agents = excluded.max_agents, sequential = excluded.sequential, purpose = excluded.purpose
         where (t.max_agents, t.sequential, t.purpose)
           is distinct from (excluded.max_agents, excluded.sequential, excluded.purpose)`,
        [workspaceId, project.projectId, track, maxAgents, sequential, purpose],
      )
      if (rowCount === 1) tx.emit('track_changed', by, { project: project.slug, track, maxAgents })
    }
  })
}

/** How many tasks of each track are done, in progress, and still to do. Subtasks are not counted beside their parent. */
export const trackProgress = (pool: pg.Pool, workspaceId: number, projectId: number) =>
  inside<{ track: string; completed: number; inProgress: number; pending: number }>(
    pool,
    workspaceId,
    `select track_queue as track, count(*) filter (where state = 'completed') as completed,
            count(*) filter (where state in ('assigned', 'running', 'continuing', 'verifying', 'awaiting_human')) as "inProgress",
            count(*) filter (where state in ('pending', 'queued', 'awaiting_retry', 'paused', 'budget_exceeded')) as pending
       from tasks where workspace_id = $1 and project_id = $2 and track_queue <> '' and parent_id is null
      group by track_queue order by track_queue`,
    [projectId],
  )

/** Which agents work on which track now. */
export const trackAssignments = (pool: pg.Pool, workspaceId: number, projectId: number) =>
  inside<{ track: string; agents: string[] }>(
    pool,
    workspaceId,
    `select track, array_agg(distinct agent order by agent) as agents from track_claims
      where workspace_id = $1 and project_id = $2 group by track order by track`,
    [projectId],
  )

export async function planEvent(
  store: Connections,
  workspaceId: number,
  project: string,
  { created, updated }: { created: number; updated: number },
  by: Origin,
): Promise<void> {
  if (created + updated === 0) return
  await store.change(workspaceId, async (tx) => tx.emit('project_planned', by, { project, created, updated }))
}

export async function renameProject(
  store: Connections,
  workspaceId: number,
  projectId: number,
  name: string,
): Promise<void> {
  await store.change(workspaceId, (tx) =>
    tx.query('update projects set name = $3 where workspace_id = $1 and project_id = $2', [
      workspaceId,
      projectId,
      name,
    ]),
  )
}
