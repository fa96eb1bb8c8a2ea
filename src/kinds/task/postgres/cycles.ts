import type pg from 'pg'
import type { Direction, TaskThatWaits, Walked } from '../../../kernel/store/store.ts'
import { BY_KEYS, scopedQueries } from '../../../postgres/statements/scoped-query.ts'

// From task to task, each once, nearest first. The subqueries are separate (offset 0), so that each step uses keys whatever
// the planner estimates. $1 workspace, $2 tasks, $3 the maximum number of tasks.
const walkBy = (step: string, start: string) => `
  with recursive walk(id) as (
    ${start}
    union
    select t.id from walk w cross join lateral (${step} offset 0) d(id)
      cross join lateral (select k.id, k.blocked, k.state from tasks k
        where k.workspace_id = $1 and k.id = d.id offset 0) t
     where ${waits('t')})
  select t.id, t.uuid, t.version, t.state = 'paused' as "isPaused", ${waits('t')} as waits,
         array(select d.depends_on from task_dependencies d where d.workspace_id = $1 and d.task_id = t.id) as "waitsFor"
    from (select id from walk limit $3) n
    cross join lateral (select * from tasks k where k.workspace_id = $1 and k.id = n.id offset 0) t`

/** Only such a task can be part of a cycle. */
function waits(task: string): string {
  return `(${task}.blocked and ${task}.state in ('pending', 'paused'))`
}

const WALKS: Record<Direction, string> = {
  upstream: walkBy(
    'select d.depends_on from task_dependencies d where d.workspace_id = $1 and d.task_id = w.id',
    `select k.id from tasks k where k.workspace_id = $1 and k.id = any($2::bigint[]) and ${waits('k')}`,
  ),
  // Others may depend on the first tasks whatever their state.
  downstream: walkBy(
    'select d.task_id from task_dependencies d where d.workspace_id = $1 and d.depends_on = w.id',
    'select unnest($2::bigint[])',
  ),
}

export async function blockedFrom(
  pool: pg.Pool,
  workspaceId: number,
  taskIds: readonly number[],
  way: Direction,
  limit: number,
): Promise<Walked> {
  type Row = TaskThatWaits & { waits: boolean } & pg.QueryResultRow
  const walk = { text: WALKS[way], values: [workspaceId, taskIds, limit] }
  const scope = ['baton.workspace_id', String(workspaceId)] as const
  const rows = (await scopedQueries<Row>(pool, ...scope, [BY_KEYS, walk]))[1]!
  const tasks = rows
    .filter(({ waits }) => waits)
    .map(({ waits: _, ...row }) => ({ ...row, waitsFor: row.waitsFor.map(Number) }))
  return { tasks, isWhole: rows.length < limit }
}
