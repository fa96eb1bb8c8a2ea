import type pg from 'pg'
import { bind, type Connections } from '../../postgres/statements/connections.ts'
import { plainKind } from '../../postgres/statements/plain-kind.ts'
import { plainRows } from '../../postgres/statements/plain-rows.ts'
import { arrayLiteral } from '../../postgres/statements/rows.ts'
import { inside } from '../../postgres/statements/scoped-query.ts'
import { statement } from '../../postgres/statements/statements.ts'
import type { StoredKind } from '../../postgres/statements/stored-kind.ts'
import { grouped } from '../../pure/grouped.ts'
import { PROJECT_FIELDS, type ProjectRecord, TRACK_FIELDS, type Track } from './record.ts'

export type Project = Omit<ProjectRecord, 'tracks'>

const rows = plainRows('projects', PROJECT_FIELDS)
const tracks = plainRows('tracks', TRACK_FIELDS, { keyWidth: 2 })
const projects = plainKind('project', { rows, may: 'select, insert, update' })

export async function findProject(pool: pg.Pool, workspaceId: number, slug: string): Promise<Project | null> {
  const [project] = await inside<Project & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select ${rows.named('p')} from projects p where workspace_id = $1 and slug = $2`,
    [slug],
  )
  return project ?? null
}

/** Null: as usual. */
async function tokensPerLine(pool: pg.Pool, workspaceId: number, projectId: number) {
  const text = `select tokens_per_line as tokens from projects where workspace_id = $1 and project_id = $2`
  const [row] = await inside<{ tokens: number | null }>(pool, workspaceId, text, [projectId])
  return row?.tokens ?? null
}

/** Reads that are methods of the store: the executor needs them. */
export const projectReads = ({ readers }: Connections) => bind(readers, { tokensPerLine })

/** Oldest first, after this number. */
export const listProjects = (pool: pg.Pool, workspaceId: number, after: number, limit: number) =>
  inside<Project & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select ${rows.named('p')} from projects p where workspace_id = $1 and project_id > $2 order by project_id limit $3`,
    [after, limit],
  )

/** A number for a new project. */
export async function newProjectId(pool: pg.Pool, workspaceId: number): Promise<number> {
  const text = `select nextval('project_ids')::int as id where $1::int is not null`
  return (await inside<{ id: number }>(pool, workspaceId, text))[0]!.id
}

export async function slugOfProject(pool: pg.Pool, workspaceId: number, projectId: number): Promise<string> {
  const text = 'select slug from projects where workspace_id = $1 and project_id = $2'
  return (await inside<{ slug: string }>(pool, workspaceId, text, [projectId]))[0]!.slug
}

export const listTracks = (pool: pg.Pool, workspaceId: number, projectId: number) =>
  inside<Track & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select track, max_agents as "maxAgents", sequential, purpose from tracks
      where workspace_id = $1 and project_id = $2 order by track`,
    [projectId],
  )

/** Of tasks: how many are done, in progress, still to do, and failed. */
const PROGRESS = `count(*) filter (where state = 'completed')::int as completed,
            count(*) filter (where state in ('assigned', 'running', 'continuing', 'verifying', 'awaiting_human'))::int as "inProgress",
            count(*) filter (where state in ('pending', 'queued', 'awaiting_retry', 'paused', 'budget_exceeded'))::int as pending,
            count(*) filter (where state = 'failed')::int as failed`

export interface Progress {
  completed: number
  inProgress: number
  pending: number
  failed: number
}

/** The progress of each track. Subtasks are not counted beside their parent. */
export const trackProgress = (pool: pg.Pool, workspaceId: number, projectId: number) =>
  inside<Progress & { track: string }>(
    pool,
    workspaceId,
    `select track_queue as track, ${PROGRESS}
       from tasks where workspace_id = $1 and project_id = $2 and track_queue <> '' and parent_id is null
      group by track_queue order by track_queue`,
    [projectId],
  )

/** The same of whole projects, with how many tracks they have, declared or not. Only work counts: not what judges it. */
export const projectProgress = (pool: pg.Pool, workspaceId: number, projectIds: readonly number[]) =>
  inside<Progress & { projectId: number; trackCount: number }>(
    pool,
    workspaceId,
    `with work as (
       select project_id, track_queue, ${PROGRESS}
         from tasks where workspace_id = $1 and project_id = any($2::int[]) and parent_id is null and purpose = 'work'
        group by project_id, track_queue),
     named as (
       select project_id, track_queue as track from work where track_queue <> ''
       union select project_id, track from tracks where workspace_id = $1 and project_id = any($2::int[]))
     select p.project_id as "projectId", (select count(*)::int from named n where n.project_id = p.project_id) as "trackCount",
            coalesce(sum(completed), 0)::int as completed, coalesce(sum("inProgress"), 0)::int as "inProgress",
            coalesce(sum(pending), 0)::int as pending, coalesce(sum(failed), 0)::int as failed
       from unnest($2::int[]) as p(project_id) left join work w on w.project_id = p.project_id
      group by p.project_id`,
    [projectIds],
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

const MOST_HELD = 10

/** What they hold: of each track the first tasks. */
export const trackHoldings = (pool: pg.Pool, workspaceId: number, projectId: number) =>
  inside<{ track: string; taskId: string; key: string | null; title: string; agent: string }>(
    pool,
    workspaceId,
    `with held as (
       select c.track, c.agent, c.task_id, row_number() over (partition by c.track order by c.task_id) as place
         from track_claims c where c.workspace_id = $1 and c.project_id = $2)
     select h.track, t.uuid as "taskId", t.key, d.title, h.agent from held h
       join tasks t on t.workspace_id = $1 and t.id = h.task_id
       join task_details d on d.workspace_id = $1 and d.task_id = h.task_id
      where h.place <= ${MOST_HELD} order by h.track, h.task_id`,
    [projectId],
  )

// The declared tracks of projects, which are locked. $1 workspace, $2 slugs.
const tracksOf = statement(
  'tracks_of_projects',
  `select p.slug, ${tracks.select('t')} from tracks t
     join projects p on p.workspace_id = t.workspace_id and p.project_id = t.project_id
    where t.workspace_id = $1 and p.slug = any($2::text[]) order by t.track`,
)

/** Projects, and their tracks in a table of their own, which claims lock. */
export const storedProjects: StoredKind<'project'> = {
  ...projects,
  tables: { ...projects.tables, tracks: 'select, insert, update' },
  firstCome: ['projects_workspace_id_slug_key'],
  ask(questions, readSet) {
    const read = projects.ask(questions, readSet)
    if (!read) return null
    const rows = questions.addIn(tracksOf, [arrayLiteral(readSet.kinds.project)])
    return (records) => {
      const bySlug = grouped(rows(), ([slug]) => slug as string)
      const { view } = read(records)
      for (const [slug, { record }] of view.seen) {
        const own = (bySlug.get(slug) ?? []).map(([, ...row]) => tracks.read(row))
        record.tracks = own.map(({ projectId: _projectId, ...track }) => track)
      }
      return { view }
    }
  },
  write(workspaceId, view, changes) {
    const changed = changes.kinds.project.written.flatMap((project) => {
      const before = view.kinds.project.seen.get(project.slug)?.record
      return changedTracks(before, project)
    })
    const writes = projects.write(workspaceId, view, changes)
    return changed.length > 0 ? [...writes, tracks.upsert(workspaceId, changed)] : writes
  },
}

const changedTracks = (before: ProjectRecord | undefined, { projectId, tracks }: ProjectRecord) =>
  tracks.filter((track) => !before?.tracks.includes(track)).map((track) => ({ projectId, ...track }))
