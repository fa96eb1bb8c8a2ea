import type pg from 'pg'
import { OPEN_LANES } from '../postgres/statements/lanes.ts'
import { scopedQueries, scopedQuery } from '../postgres/statements/scoped-query.ts'
import { taskStates } from '../pure/states.ts'

/** What metrics read of all workspaces at once. All of it is kept as counters or found by an index: however many tasks there are. */

export interface LabelNames {
  workspaces: ReadonlyMap<number, { uuid: string; name: string }>
  /** The slugs of projects. Their numbers are unique in all workspaces. */
  projects: ReadonlyMap<number, string>
}

const UPKEEP = ['baton.scope', 'upkeep'] as const

/** The oldest workspaces and projects. */
export async function labelNames(readers: pg.Pool, most: number): Promise<LabelNames> {
  const [workspaces, projects] = await scopedQueries<{ id: number; uuid: string; name: string }>(
    readers,
    ...UPKEEP,
    [
      {
        text: 'select workspace_id as id, uuid, name from workspaces order by workspace_id limit $1',
        values: [most],
      },
      {
        text: `select project_id as id, slug as name, '' as uuid from projects order by project_id limit $1`,
        values: [most],
      },
    ],
  )
  return {
    workspaces: new Map(workspaces!.map(({ id, uuid, name }) => [id, { uuid, name }])),
    projects: new Map(projects!.map(({ id, name }) => [id, name])),
  }
}

/** A workspace (0: all that have no series of their own), its claims and its tasks by state. */
interface CountsRow {
  workspaceId: number
  activeClaims: number
  states: Record<string, number>
}

interface ProjectRow {
  workspaceId: number
  projectId: number
  pending: number
  completed: number
  activeClaims: number
}

export interface ClusterCounts {
  workspaces: CountsRow[]
  projects: ProjectRow[]
  agents: { workspaceId: number; state: string; count: number }[]
  followers: { follower: string; lag: number }[]
}

const own = (id: string, list: string) => `case when ${id} = any(${list}::int[]) then ${id} else 0 end`
const STATES = taskStates.map((state) => `'${state}', sum(k.${state})`).join(', ')

// $1 the workspaces that have series of their own.
const OF_WORKSPACES = `
  select ${own('k.workspace_id', '$1')} as "workspaceId", sum(k.active_claims)::int as "activeClaims",
         json_build_object(${STATES}) as states
    from workspace_counters k group by 1`

// $1 the workspaces, $2 the projects that have series of their own.
const OF_PROJECTS = `
  select ${own('p.workspace_id', '$1')} as "workspaceId", ${own('p.project_id', '$2')} as "projectId", sum(p.pending)::int as pending,
         sum(p.completed)::int as completed, sum(p.active_claims)::int as "activeClaims"
    from project_counters p group by 1, 2`

// $1 the workspaces that have series of their own.
const OF_AGENTS = `
  select ${own('a.workspace_id', '$1')} as "workspaceId", a.state, count(*)::int as count
    from agents a where a.state <> 'terminated' group by 1, 2`

// How far each cursor is behind its log, with the cursors that this process has moved further than they are written ($1 to $3).
const OF_FOLLOWERS = `
  select f.follower, max(greatest(c.last_seq - greatest(f.seq, coalesce(k.seq, 0)), 0))::float8 as lag
    from log_cursors f join workspace_counters c on c.workspace_id = f.workspace_id
    left join unnest($1::int[], $2::text[], $3::bigint[]) as k(workspace_id, follower, seq)
      on k.workspace_id = f.workspace_id and k.follower = f.follower
   group by f.follower`

interface Named {
  workspaces: readonly number[]
  projects: readonly number[]
}

export async function clusterCounts(
  readers: pg.Pool,
  { workspaces, projects }: Named,
  cursors: readonly unknown[],
): Promise<ClusterCounts> {
  const named = (name: string, text: string, values: unknown[]) => ({ name: `metrics_${name}`, text, values })
  const read = await scopedQueries<pg.QueryResultRow>(readers, ...UPKEEP, [
    named('workspaces', OF_WORKSPACES, [workspaces]),
    named('projects', OF_PROJECTS, [workspaces, projects]),
    named('agents', OF_AGENTS, [workspaces]),
    named('followers', OF_FOLLOWERS, [...cursors]),
  ])
  const [counts, ofProjects, agents, followers] = read
  return {
    workspaces: counts as CountsRow[],
    projects: ofProjects as ProjectRow[],
    agents: agents as ClusterCounts['agents'],
    followers: followers as ClusterCounts['followers'],
  }
}

// The first task of each lane in which tasks wait, as it is handed out next: since when is the one queued that waits longest. $1 workspace.
const QUEUE_AGE = `with recursive ${OPEN_LANES}
  select extract(epoch from clock_timestamp() - min(h.since))::float8 as age
    from lanes l cross join lateral (
      select coalesce(t.state_since, t.updated_at) as since from tasks t
       where t.workspace_id = $1 and t.rank is not null and t.only_agent is null and t.lane = l.lane order by t.rank limit 1) h`

/** In seconds; null: nothing is queued that anybody may take. */
export async function queueAge(readers: pg.Pool, workspaceId: number): Promise<number | null> {
  const statement = { name: 'metrics_queue_age', text: QUEUE_AGE, values: [workspaceId] }
  const [row] = await scopedQuery<{ age: number | null }>(
    readers,
    'baton.workspace_id',
    String(workspaceId),
    statement,
  )
  return row!.age
}
