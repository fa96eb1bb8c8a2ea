-- outside a transaction
-- Finished tasks that did not succeed, newest first: a board that shows only them would read all that succeeded. Written only when a
-- task ends like that. No table is rewritten, and none is scanned while it is locked.
create index concurrently if not exists tasks_ended_badly on tasks (workspace_id, completed_at, id)
  where completed_at is not null and archived_at is null and purpose = 'work' and state <> 'completed';
