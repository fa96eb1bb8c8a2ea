/** Column types and clauses that the tables share. */

export const STATES = `enum('pending', 'queued', 'awaiting_retry', 'assigned', 'running', 'continuing', 'verifying', 'awaiting_human',
  'paused', 'budget_exceeded', 'completed', 'failed', 'cancelled', 'skipped') character set ascii collate ascii_bin`
export const oneOf = (list: string) => `enum(${list}) character set ascii collate ascii_bin`
export const UUID = 'char(36) character set ascii collate ascii_bin'
/** A name has up to 200 characters, which are at most 600 bytes. */
export const NAME = 'varbinary(600)'
export const TABLE = 'engine=InnoDB row_format=dynamic default character set utf8mb4 collate utf8mb4_bin'
export const ofWorkspace = 'foreign key (workspace_id) references baton_workspaces (workspace_id)'
export const ofTask = (column: string) =>
  `foreign key (workspace_id, ${column}) references baton_tasks (workspace_id, id)`
