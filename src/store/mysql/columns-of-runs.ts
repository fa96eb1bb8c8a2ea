import { addOnce } from './columns-of-coordination.ts'

/** Columns that came with the limit of continuations. */
export const COLUMNS_OF_RUNS = addOnce(
  'baton_tasks',
  'max_continuations',
  'add column max_continuations smallint not null default 10',
)
