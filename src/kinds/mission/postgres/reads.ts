import type pg from 'pg'
import type { StoredPlanTask } from '../../../kernel/store/run-store.ts'
import { bind, type Connections } from '../../../postgres/statements/connections.ts'
import { LAST_SEQ } from '../../../postgres/statements/log-head.ts'
import { scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import { costOfTask, isMissionSimulated, isTaskSimulated } from '../../../postgres/statements/spent.ts'
import type { TaskState } from '../../../pure/states.ts'
import type { Purpose } from '../../task/record.ts'
import type { MissionRecord, PlanVersion } from '../record.ts'
import type { MissionState } from '../states.ts'
import { costliestTasks, missionsToSettle, skippedInMission, tasksForChore } from './due.ts'
import { MISSIONS, missionColumns, planColumns, readMission, readPlan } from './rows.ts'

/** Missions for people. */

const inWorkspace = (pool: pg.Pool, workspaceId: number, text: string, values: unknown[]) =>
  scopedQuery<unknown[]>(pool, 'baton.workspace_id', String(workspaceId), {
    text,
    values: [workspaceId, ...values],
    rowMode: 'array',
  })

/** An unused number for a new mission. */
async function freshMissionId(pool: pg.Pool, workspaceId: number): Promise<number> {
  const [row] = await inWorkspace(
    pool,
    workspaceId,
    `select nextval('mission_ids') where $1::int is not null`,
    [],
  )
  return Number(row![0])
}

async function findMission(pool: pg.Pool, workspaceId: number, id: number): Promise<MissionRecord | null> {
  const text = `select ${missionColumns} from ${MISSIONS} where m.workspace_id = $1 and m.mission_id = $2`
  const [row] = await inWorkspace(pool, workspaceId, text, [id])
  return row ? readMission(row) : null
}

export interface MissionFilter {
  states?: readonly MissionState[] | undefined
  tag?: string | undefined
  text?: string | undefined
  /** Missions with a smaller number: newest first, page by page. */
  before?: number | undefined
}

export async function listMissions(
  pool: pg.Pool,
  workspaceId: number,
  { states, tag, text, before }: MissionFilter,
  limit: number,
): Promise<MissionRecord[]> {
  const rows = await inWorkspace(
    pool,
    workspaceId,
    `select ${missionColumns} from ${MISSIONS} where m.workspace_id = $1
        and ($2::text[] is null or m.state = any($2)) and ($3::text is null or m.tags @> array[$3])
        and ($4::text is null or position(lower($4) in lower(m.title)) > 0) and ($5::bigint is null or m.mission_id < $5)
      order by m.mission_id desc limit $6`,
    [states ?? null, tag ?? null, text ?? null, before ?? null, limit],
  )
  return rows.map(readMission)
}

/** Which of these missions have spent simulated money. */
export async function simulatedMissions(
  pool: pg.Pool,
  workspaceId: number,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const text = `select m.id from unnest($2::bigint[]) m (id) where ${isMissionSimulated('m.id')}`
  const rows = await inWorkspace(pool, workspaceId, text, [ids])
  return new Set(rows.map(([id]) => Number(id)))
}

/** Every version of its plan, newest first, without the plans themselves. */
export async function plansOfMission(pool: pg.Pool, workspaceId: number, id: number): Promise<PlanVersion[]> {
  const text = `select ${planColumns} from mission_plans p where workspace_id = $1 and mission_id = $2 order by version desc`
  return (await inWorkspace(pool, workspaceId, text, [id])).map(readPlan)
}

async function planOfMission(
  pool: pg.Pool,
  workspaceId: number,
  id: number,
  version: number,
): Promise<PlanVersion | null> {
  const text = `select ${planColumns}, p.body::text from mission_plans p where workspace_id = $1 and mission_id = $2 and version = $3`
  const [row] = await inWorkspace(pool, workspaceId, text, [id, version])
  return row ? readPlan(row) : null
}

/** Its tasks that come from its plan, in the order of the plan. */
const planTasksOf = (pool: pg.Pool, workspaceId: number, id: number): Promise<StoredPlanTask[]> =>
  scopedQuery<StoredPlanTask & pg.QueryResultRow>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select t.id, t.uuid, d.plan ->> 'tempId' as "tempId", t.state, t.generation,
              (d.plan ->> 'sequenceNumber')::int as "sequenceNumber"
         from tasks t join task_details d on d.workspace_id = t.workspace_id and d.task_id = t.id
        where t.workspace_id = $1 and t.mission_id = $2 and t.purpose = 'work' and d.plan ->> 'sequenceNumber' is not null
        order by (d.plan ->> 'sequenceNumber')::int`,
    values: [workspaceId, id],
  })

/** The newest task that plans, or planned, it. */
async function newestPlanning(pool: pg.Pool, workspaceId: number, missionId: number): Promise<number | null> {
  const [row] = await scopedQuery<{ id: number }>(pool, 'baton.workspace_id', String(workspaceId), {
    text: `select t.id from tasks t where t.workspace_id = $1 and t.mission_id = $2 and t.purpose = 'planning'
      order by t.id desc limit 1`,
    values: [workspaceId, missionId],
  })
  return row?.id ?? null
}

// Arrays of its fields, in the order of their creation.
const NODES = `select json_agg(json_build_array(t.uuid, (d.plan ->> 'sequenceNumber')::int, d.title, t.state, t.purpose,
      coalesce(t.agent, t.only_agent), t.attempt, ${costOfTask('t.id')}, ${isTaskSimulated('t.id')}) order by t.id)
  from tasks t join task_details d on d.workspace_id = t.workspace_id and d.task_id = t.id
 where t.workspace_id = $1 and t.mission_id = $2 and t.purpose = 'work'`
const EDGES = `select json_agg(json_build_array(u.uuid, t.uuid, x.kind) order by x.task_id, x.depends_on) from tasks t
    join task_dependencies x on x.workspace_id = t.workspace_id and x.task_id = t.id
    join tasks u on u.workspace_id = x.workspace_id and u.id = x.depends_on
  where t.workspace_id = $1 and t.mission_id = $2`

interface GraphNode {
  id: string
  number: number | null
  title: string
  state: TaskState
  purpose: Purpose
  agent: string | null
  attempt: number
  costUsd: string | null
  isSimulated: boolean
}

export interface MissionEdges {
  nodes: GraphNode[]
  edges: { from: string; to: string; kind: 'data' | 'order' }[]
  seq: number
}

/** Its tasks and the edges between them, exactly as of one event: one statement sees one moment. */
export async function taskGraphOf(pool: pg.Pool, workspaceId: number, id: number): Promise<MissionEdges> {
  const text = `select ${LAST_SEQ}, (${NODES}), (${EDGES})`
  const [row] = await inWorkspace(pool, workspaceId, text, [id])
  const [seq, nodes, edges] = row as [number, unknown[][] | null, unknown[][] | null]
  return {
    seq,
    nodes: (nodes ?? []).map(
      ([uuid, number, title, state, purpose, agent, attempt, costUsd, isSimulated]) =>
        ({ id: uuid, number, title, state, purpose, agent, attempt, costUsd, isSimulated }) as GraphNode,
    ),
    edges: (edges ?? []).map(([from, to, kind]) => ({ from, to, kind }) as MissionEdges['edges'][number]),
  }
}

/** Reads of missions that are methods of the store: other kinds need them, and the executor. */
export const missionReads = ({ readers, writers }: Connections) => ({
  ...bind(writers, { freshId: freshMissionId }),
  ...bind(readers, {
    costliest: costliestTasks,
    find: findMission,
    newestPlanning,
    plan: planOfMission,
    planTasks: planTasksOf,
    skipped: skippedInMission,
    tasksFor: tasksForChore,
    toSettle: missionsToSettle,
  }),
})
