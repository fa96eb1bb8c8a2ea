-- outside a transaction
-- What a board reads: since when a task is in its state, what was done last, and how many tasks there are. No table is rewritten,
-- and none is scanned while it is locked, but the tasks of a workspace under the lock of its counter, when they are counted.

-- Null: it is in that state since before this version.
alter table tasks add column if not exists state_since timestamptz;

-- Tasks that are neither queued, nor held, nor wait for others, nor have ended. On its way from one agent to its end, a task
-- never enters it.
create index concurrently if not exists tasks_standing on tasks (workspace_id, id)
  where state in ('awaiting_retry', 'verifying', 'awaiting_human', 'paused', 'budget_exceeded') or (state = 'pending' and not blocked);
create index concurrently if not exists tasks_done on tasks (workspace_id, completed_at, id)
  where completed_at is not null and archived_at is null and purpose = 'work';

-- Work that is not archived, by state.
alter table workspace_counters
  add column if not exists pending integer not null default 0,
  add column if not exists queued integer not null default 0,
  add column if not exists awaiting_retry integer not null default 0,
  add column if not exists assigned integer not null default 0,
  add column if not exists running integer not null default 0,
  add column if not exists continuing integer not null default 0,
  add column if not exists verifying integer not null default 0,
  add column if not exists awaiting_human integer not null default 0,
  add column if not exists paused integer not null default 0,
  add column if not exists budget_exceeded integer not null default 0,
  add column if not exists completed integer not null default 0,
  add column if not exists failed integer not null default 0,
  add column if not exists cancelled integer not null default 0,
  add column if not exists skipped integer not null default 0;

-- Counted under the lock of the counter, one workspace after the other: no change is missed, and no lock is kept for the next one. A
-- semicolon at the end of a line would end the statement.
do '
declare counted record; numbers json; begin
  perform set_config(''baton.scope'', ''upkeep'', true)
; for counted in select k.workspace_id from workspace_counters k loop
    perform set_config(''baton.scope'', '''', true), set_config(''baton.workspace_id'', counted.workspace_id::text, true)
;   perform from workspace_counters k where k.workspace_id = counted.workspace_id for update
;   select json_object_agg(c.state, c.tasks) into numbers from (select t.state, count(*) as tasks from tasks t
      where t.workspace_id = counted.workspace_id and t.purpose = ''work'' and t.archived_at is null group by t.state) c
;   update workspace_counters k set pending = coalesce((numbers ->> ''pending'')::int, 0), queued = coalesce((numbers ->> ''queued'')::int, 0), awaiting_retry = coalesce((numbers ->> ''awaiting_retry'')::int, 0),
      assigned = coalesce((numbers ->> ''assigned'')::int, 0), running = coalesce((numbers ->> ''running'')::int, 0), continuing = coalesce((numbers ->> ''continuing'')::int, 0),
      verifying = coalesce((numbers ->> ''verifying'')::int, 0), awaiting_human = coalesce((numbers ->> ''awaiting_human'')::int, 0), paused = coalesce((numbers ->> ''paused'')::int, 0),
      budget_exceeded = coalesce((numbers ->> ''budget_exceeded'')::int, 0), completed = coalesce((numbers ->> ''completed'')::int, 0), failed = coalesce((numbers ->> ''failed'')::int, 0),
      cancelled = coalesce((numbers ->> ''cancelled'')::int, 0), skipped = coalesce((numbers ->> ''skipped'')::int, 0)
     where k.workspace_id = counted.workspace_id
;   commit
; end loop
; perform set_config(''baton.scope'', '''', true), set_config(''baton.workspace_id'', '''', true)
; end';
