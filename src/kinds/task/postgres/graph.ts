import type pg from 'pg'
import { insideByKeys, scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import type { TaskState, TriggerRule } from '../../../pure/states.ts'
import type { DependencyKind } from '../rules/upstream-counts.ts'

interface Neighbour {
  taskId: string
  key: string | null
  title: string
  state: TaskState
  kind: DependencyKind
}

interface Around {
  blockedBy: Neighbour[]
  blocks: Neighbour[]
  /** When it may run after what it depends on; null: it depends on nothing. */
  triggerRule: TriggerRule | null
}

type Side = 'blockedBy' | 'blocks'

const side = (name: Side, own: string, other: string) => `
  select '${name}' as side, t.uuid as "taskId", t.key, x.title, t.state, d.kind, d.trigger_rule as rule
    from (select * from task_dependencies k where k.workspace_id = $1 and k.${own} = $2 order by k.${other} limit $3) d
    cross join lateral (select * from tasks k where k.workspace_id = $1 and k.id = d.${other} offset 0) t
    cross join lateral (select * from task_details k where k.workspace_id = $1 and k.task_id = d.${other} offset 0) x`

// The tasks on both sides of a task, oldest first. $1 workspace, $2 task, $3 how many of each side.
const AROUND = `${side('blockedBy', 'task_id', 'depends_on')} union all ${side('blocks', 'depends_on', 'task_id')}`

/** What a task depends on, and what depends on it. */
export async function tasksAround(
  pool: pg.Pool,
  workspaceId: number,
  taskId: number,
  limit: number,
): Promise<Around> {
  const rows = await scopedQuery<Neighbour & { side: Side; rule: TriggerRule }>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    { name: 'tasks_around', text: AROUND, values: [workspaceId, taskId, limit] },
  )
  const around: Around = { blockedBy: [], blocks: [], triggerRule: null }
  for (const { side, rule, ...neighbour } of rows) {
    around[side].push(neighbour)
    if (side === 'blockedBy') around.triggerRule = rule
  }
  return around
}

// By the key itself, or by its beginning, which parts of the task share. $1 workspace, $2 the first key, $3 the last one. 0 stands for no
// project: each project has its own keys, in one range of the index.
const BY_KEY = `select k.uuid from (select 0 as project_id union all select p.project_id from projects p where p.workspace_id = $1) p
    cross join lateral (select t.uuid from tasks t where t.workspace_id = $1 and t.project_id = p.project_id and t.key is not null
      and t.key >= $2::text and t.key <= $3::text and ($2::text = $3::text or position('::' in t.key) = 0) order by t.key limit 2) k
  limit 2`

/** The ids of at most two tasks with a key in this range. */
export async function tasksByKeys(
  pool: pg.Pool,
  workspaceId: number,
  first: string,
  last: string,
): Promise<string[]> {
  const rows = await insideByKeys<{ uuid: string }>(pool, workspaceId, BY_KEY, [first, last])
  return rows.map(({ uuid }) => uuid)
}
