-- outside a transaction
-- Routines: plans that are run again and again. No table is rewritten, and none is scanned while it is locked.

create sequence if not exists routine_ids as bigint;

create table if not exists routines (
  workspace_id integer not null references workspaces,
  routine_id bigint not null,
  uuid uuid not null,
  name text not null check (name <> ''),
  goal text not null check (goal <> ''),
  title text not null check (title <> ''),
  description text,
  tags text[] not null default '{}',
  priority smallint not null check (priority between 1 and 10),
  project_id integer not null default 0 check (project_id >= 0),
  -- Checked when they are read.
  config json not null,
  plan json not null,
  plan_digest text not null,
  task_count integer not null check (task_count >= 0),
  variables json not null,
  schedule json,
  origin_mission bigint,
  is_enabled boolean not null,
  -- When it fires next.
  next_at timestamptz,
  -- Scheduled times whose missions wait for the one before, as kinds/routine/rules/decide.ts keeps them.
  waiting json not null default '[]',
  has_waiting boolean not null,
  is_replacing boolean not null,
  skipped_in_row integer not null default 0 check (skipped_in_row >= 0),
  -- When it started its last mission.
  started_at timestamptz,
  -- The last scheduled time that became a mission.
  last_for timestamptz,
  approved_by text not null,
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  removed_at timestamptz,
  primary key (workspace_id, routine_id),
  constraint routines_scheduled check (next_at is null or (schedule is not null and is_enabled and removed_at is null)),
  constraint routines_waiting check (has_waiting = (json_array_length(waiting) > 0)),
  constraint routines_replacing check (has_waiting or not is_replacing),
  foreign key (workspace_id, origin_mission) references missions (workspace_id, mission_id)
);
create index if not exists routines_due on routines (next_at) where next_at is not null;
create index if not exists routines_with_waiting on routines (workspace_id, routine_id) where has_waiting;
alter table routines enable row level security;
alter table routines force row level security;
drop policy if exists own_workspace on routines;
create policy own_workspace on routines using (workspace_id = (select current_workspace()));
drop policy if exists upkeep_reads on routines;
create policy upkeep_reads on routines for select
  using ((select current_setting('baton.scope', true)) = 'upkeep');

-- The missions that routines started. Rows are only inserted, in the transaction that makes the mission.
create table if not exists routine_fires (
  workspace_id integer not null,
  mission_id bigint not null,
  routine_id bigint not null,
  -- Null: by hand.
  scheduled_for timestamptz,
  primary key (workspace_id, mission_id),
  -- A scheduled time becomes one mission, whoever notices it.
  constraint routine_fires_once unique (workspace_id, routine_id, scheduled_for),
  foreign key (workspace_id, mission_id) references missions (workspace_id, mission_id),
  foreign key (workspace_id, routine_id) references routines (workspace_id, routine_id)
);
create index if not exists routine_fires_newest on routine_fires (workspace_id, routine_id, mission_id);
alter table routine_fires enable row level security;
alter table routine_fires force row level security;
drop policy if exists own_workspace on routine_fires;
create policy own_workspace on routine_fires using (workspace_id = (select current_workspace()));
drop policy if exists upkeep_reads on routine_fires;
create policy upkeep_reads on routine_fires for select
  using ((select current_setting('baton.scope', true)) = 'upkeep');
