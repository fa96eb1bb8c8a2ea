-- outside a transaction
-- Tasks that belong to missions, and tasks that are not work. No table is rewritten, and none is scanned while it is locked.

alter table tasks
  add column if not exists mission_id bigint,
  add column if not exists purpose text not null default 'work',
  add column if not exists optional boolean not null default false,
  drop constraint if exists tasks_purpose,
  add constraint tasks_purpose check (purpose in ('work', 'planning', 'verification', 'report')) not valid;
alter table tasks validate constraint tasks_purpose;
alter table task_details add column if not exists plan json;
alter table events add column if not exists mission_id bigint;

-- The tasks of one mission. A change of a task does not touch it.
create index concurrently if not exists tasks_of_mission on tasks (workspace_id, mission_id, id) where mission_id is not null;
-- The log of one mission. Most events belong to none and cost nothing here.
create index concurrently if not exists events_of_mission on events (workspace_id, mission_id, seq) where mission_id is not null;
-- Tasks that are reserved for one agent: those outside of missions in one order; the others lane by lane, as in tasks_waiting.
create index concurrently if not exists tasks_reserved_plain on tasks (workspace_id, only_agent, rank, id)
  where rank is not null and only_agent is not null and lane < '~';
create index concurrently if not exists tasks_reserved_in_lanes on tasks (workspace_id, only_agent, lane, rank, id)
  where rank is not null and only_agent is not null and lane >= '~';
drop index concurrently if exists tasks_reserved;
