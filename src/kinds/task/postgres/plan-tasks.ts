import type pg from 'pg'
import type { StoredTask } from '../../../kernel/store/store.ts'
import { scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import type { TriggerRule } from '../../../pure/states.ts'
import { PostgresReader } from './reader.ts'

/** All tasks of a project that have keys, by key. */
export async function tasksOfProject(
  pool: pg.Pool,
  workspaceId: number,
  projectId: number,
): Promise<StoredTask[]> {
  const rows = await scopedQuery<{ id: number }>(pool, 'baton.workspace_id', String(workspaceId), {
    text: 'select id from tasks where workspace_id = $1 and project_id = $2 and key is not null order by key',
    values: [workspaceId, projectId],
  })
  return new PostgresReader(pool).tasksById(
    workspaceId,
    rows.map(({ id }) => id),
  )
}

/** The trigger rule of each task of a project that has dependencies. */
export async function triggerRulesOf(
  pool: pg.Pool,
  workspaceId: number,
  projectId: number,
): Promise<Map<number, TriggerRule>> {
  const rows = await scopedQuery<{ id: number; rule: TriggerRule }>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    {
      text: `select t.id, min(d.trigger_rule) as rule from tasks t
             join task_dependencies d on d.workspace_id = t.workspace_id and d.task_id = t.id
            where t.workspace_id = $1 and t.project_id = $2 group by t.id`,
      values: [workspaceId, projectId],
    },
  )
  return new Map(rows.map(({ id, rule }) => [id, rule]))
}
