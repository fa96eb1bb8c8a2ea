import { oneOf } from './column-types.ts'

/**
 * Readiness by counting: a task keeps how many of its upstream tasks are awaited and how the others ended, a dependency what it
 * contributed. Dependencies of earlier versions hand nothing on, and contributed nothing yet. Both servers make these changes
 * without rewriting a table.
 */
export const DEPENDENCY_COUNTS = [
  'alter table baton_tasks add column upstream text',
  `alter table baton_task_dependencies
    modify column trigger_rule ${oneOf(`'all_success', 'all_done', 'none_failed', 'always', 'one_success'`)} not null,
    add column kind ${oneOf(`'data', 'order'`)} not null default 'order',
    add column counted_version int not null default 0,
    add column outcome ${oneOf(`'completed', 'failed', 'cancelled', 'skipped'`)}`,
]
