import { oneOf } from './column-types.ts'

/**
 * What a task is for, and the mission it belongs to. Missions themselves are held by Postgres only. Both servers add these
 * columns without rewriting the table.
 */
export const PURPOSES = [
  `alter table baton_tasks
    add column mission_id bigint,
    add column purpose ${oneOf(`'work', 'planning', 'verification', 'report'`)} not null default 'work',
    add column optional tinyint not null default 0`,
]
