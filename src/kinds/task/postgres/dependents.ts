import type pg from 'pg'
import type { BlockedTask } from '../../../kernel/store/store.ts'
import { BY_KEYS, scopedQueries } from '../../../postgres/statements/scoped-query.ts'
import type { TaskState } from '../../../pure/states.ts'
import { outcomeOf } from '../rules/upstream-counts.ts'

/** From tasks to the tasks that depend on them. This costs what is asked about, and nothing for all that is waiting. */

const ENDED = `('completed', 'failed', 'cancelled', 'skipped')`

// Each subquery is separate (offset 0) and uses one key: in a free join, a planner that expects few blocked tasks would read
// all of them.
const taskById = (workspace: string, id: string) =>
  `(select * from tasks k where k.workspace_id = ${workspace} and k.id = ${id} offset 0)`
const waitingFor = (workspace: string, id: string) =>
  `(select k.task_id, k.outcome from task_dependencies k where k.workspace_id = ${workspace} and k.depends_on = ${id} offset 0)`

const WAITS = `t.blocked and t.state in ('pending', 'paused')`
const IS_UNCOUNTED = `d.outcome is distinct from case when u.state in ${ENDED} then u.state end`
/** All parts are counted, and their results are to be merged. */
const IS_TO_BE_MERGED = `t.merge = 'object' and t.state = 'pending' and (t.upstream ->> 'waiting')::int = 0
  and (t.upstream ->> 'failed')::int = 0 and (t.upstream ->> 'other')::int = 0`

const BLOCKED_TASK = `t.workspace_id as "workspaceId", t.id as "taskId", t.uuid, t.version, t.merge, t.upstream`
/** An upstream task that was counted otherwise; nulls where only the task itself matters. */
const UPSTREAM_TASK = `u.id as "dependsOn", u.uuid as "upstreamUuid", u.version as "upstreamVersion", u.state as "upstreamState"`
const NO_UPSTREAM_TASK = 'null::bigint, null::uuid, null::int, null::text'

interface BlockedRow extends Omit<BlockedTask, 'edges'>, pg.QueryResultRow {
  dependsOn: number | null
  upstreamUuid: string
  upstreamVersion: number
  upstreamState: TaskState
}

/** One row for each upstream task. */
function tasksIn(rows: readonly BlockedRow[]): BlockedTask[] {
  const found = new Map<number, BlockedTask>()
  for (const row of rows) {
    const { dependsOn, upstreamUuid, upstreamVersion, upstreamState, ...own } = row
    const task: BlockedTask = found.get(own.taskId) ?? { ...own, edges: [] }
    found.set(own.taskId, task)
    if (dependsOn === null) continue
    const outcome = outcomeOf(upstreamState)
    task.edges.push({ dependsOn, uuid: upstreamUuid, version: upstreamVersion, outcome })
  }
  return [...found.values()]
}

/** Blocked tasks that depend on these, and have not counted how these stand. */
export async function downstreamOf(
  pool: pg.Pool,
  workspaceId: number,
  taskIds: readonly number[],
): Promise<BlockedTask[]> {
  const rows = await asUpkeep<BlockedRow>(
    pool,
    `select ${BLOCKED_TASK}, ${UPSTREAM_TASK} from unnest($2::bigint[]) as e(id)
       cross join lateral ${taskById('$1', 'e.id')} u
       cross join lateral ${waitingFor('$1', 'e.id')} d
       cross join lateral ${taskById('$1', 'd.task_id')} t
      where ${WAITS} and (t.upstream is null or ${IS_UNCOUNTED})`,
    [workspaceId, [...new Set(taskIds)]],
  )
  return tasksIn(rows)
}

// Blocked tasks that have not counted some of these tasks as they stand, and those of these tasks that are not counted at all.
// Both kinds may also have parts to merge. $1 workspace, $2 tasks, $3 limit.
export const MISSED_AMONG = `
  select ${BLOCKED_TASK}, ${UPSTREAM_TASK} from unnest($2::bigint[]) as e(id)
      cross join lateral ${taskById('$1', 'e.id')} u
      cross join lateral ${waitingFor('$1', 'e.id')} d
      cross join lateral ${taskById('$1', 'd.task_id')} t
     where ${WAITS} and (t.upstream is null or ${IS_UNCOUNTED} or (${IS_TO_BE_MERGED}))
    union all
    select ${BLOCKED_TASK}, ${NO_UPSTREAM_TASK} from unnest($2::bigint[]) as e(id)
      cross join lateral ${taskById('$1', 'e.id')} t
     where ${WAITS} and (t.upstream is null or (${IS_TO_BE_MERGED}))
    limit $3`

export const missedAmong = async (
  pool: pg.Pool,
  workspaceId: number,
  taskIds: readonly number[],
  limit: number,
): Promise<BlockedTask[]> =>
  tasksIn(await asUpkeep<BlockedRow>(pool, MISSED_AMONG, [workspaceId, taskIds, limit]))

async function asUpkeep<T extends pg.QueryResultRow>(
  pool: pg.Pool,
  text: string,
  values: unknown[],
): Promise<T[]> {
  const [, rows] = await scopedQueries<T>(pool, 'baton.scope', 'upkeep', [BY_KEYS, { text, values }])
  return rows!
}
