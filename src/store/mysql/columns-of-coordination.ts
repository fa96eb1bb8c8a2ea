import { NAME, oneOf } from './column-types.ts'

/**
 * Columns that came with the coordinator. MySQL has no "add column if not exists", so whether they are there is asked
 * first: a set-up that was interrupted is begun anew. Each table gets all of its columns at once.
 */
export const addOnce = (table: string, first: string, columns: string): string[] =>
  alterUnless(
    `select 1 from information_schema.columns
             where table_schema = database() and table_name = '${table}' and column_name = '${first}'`,
    table,
    columns,
  )

const alterUnless = (isThere: string, table: string, change: string): string[] => [
  `set @baton_alter = if(
    exists (${isThere}),
    'do 0', "alter table ${table} ${change}")`,
  'prepare baton_alter from @baton_alter',
  'execute baton_alter',
  'deallocate prepare baton_alter',
]

export const COLUMNS_OF_COORDINATION = [
  ...addOnce('baton_tasks', 'watch', 'add column watch text'),
  ...addOnce('baton_task_details', 'metadata', `add column metadata longtext, add column created_by ${NAME}`),
  ...addOnce(
    'baton_workspaces',
    'assign_timeout_seconds',
    `add column assign_timeout_seconds int not null default 120,
     add column stall_timeout_seconds int,
     add column verify_timeout_seconds int not null default 180,
     add column hang_grace_seconds int not null default 1800,
     add column hang_abort_seconds int not null default 600,
     add column queue_order ${oneOf(`'priority', 'shortest_first'`)} not null default 'priority'`,
  ),
]

/** What is due in one workspace, however much is due in others. */
export const DUE_BY_WORKSPACE = alterUnless(
  `select 1 from information_schema.statistics
    where table_schema = database() and table_name = 'baton_tasks' and index_name = 'task_due_in_workspace'`,
  'baton_tasks',
  'add key task_due_in_workspace (workspace_id, due_at)',
)
