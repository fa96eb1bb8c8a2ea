-- Continuations with a limit of their own; chains of wakeups with a depth.

-- How often a holder may ask for another turn within one attempt.
alter table tasks add column max_continuations smallint not null default 10 check (max_continuations >= 0);

alter table wakeups
  -- It goes on with what its agent holds; caps do not count it.
  add column is_continuation boolean not null default false,
  -- How many runs, each of which woke the next, lead to it; 0 when no run asked for it.
  add column depth smallint not null default 0 check (depth >= 0);
-- How often programs woke an agent without a task.
create index wakeups_by_programs on wakeups (workspace_id, agent, requested_at) where task_id = 0 and source = 'automation';

alter table runs add column depth smallint not null default 0 check (depth >= 0);
