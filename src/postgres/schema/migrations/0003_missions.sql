-- Missions: goals, and their plans. Their tasks get their columns in the next migration.

create sequence mission_ids as bigint;

-- Changes rarely: claims and results of tasks do not touch it.
create table missions (
  workspace_id integer not null references workspaces,
  mission_id bigint not null,
  uuid uuid not null,
  goal text not null check (goal <> ''),
  title text not null check (title <> ''),
  description text,
  tags text[] not null default '{}',
  priority smallint not null check (priority between 1 and 10),
  -- With a version of its own, checked when it is read.
  config json not null,
  project_id integer not null default 0 check (project_id >= 0),
  phase text not null check (phase in (
    'pending', 'planning', 'awaiting_approval', 'running', 'completed', 'failed', 'cancelled')),
  closed_by text[] not null default '{}' check (closed_by <@ array['unapproved', 'paused', 'budget', 'cancelling']),
  -- What people read, as kinds/mission/states.ts derives it.
  state text collate "C" not null constraint missions_state check (state = case
    when phase in ('completed', 'failed', 'cancelled') then phase
    when 'paused' = any (closed_by) then 'paused'
    when 'budget' = any (closed_by) then 'budget_exceeded'
    else phase end),
  -- Tasks of which purpose are handed out, as kinds/mission/rules/gate.ts derives it.
  open_for text not null constraint missions_open_for check (open_for = case
    when phase in ('completed', 'failed', 'cancelled') then 'report'
    when closed_by && array['paused', 'budget', 'cancelling'] then 'none'
    when phase = 'running' then 'all'
    when phase = 'pending' then 'none'
    else 'planning' end),
  -- How many of its tasks may be held at once.
  max_parallel integer check (max_parallel >= 1),
  plan_version integer check (plan_version >= 1),
  approved_version integer check (approved_version <= plan_version),
  start_at timestamptz,
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  started_at timestamptz,
  completed_at timestamptz,
  due_at timestamptz,
  error text,
  primary key (workspace_id, mission_id),
  check ((phase in ('completed', 'failed', 'cancelled')) = (completed_at is not null)),
  check (completed_at is null or cardinality(closed_by) = 0),
  check (phase <> 'running' or approved_version is not null)
);
-- The queue looks into the tasks of these only, however many others there are.
create index missions_open on missions (workspace_id, mission_id) where open_for in ('planning', 'all');
create index missions_by_state on missions (workspace_id, state, mission_id);
create index missions_due on missions (due_at) where due_at is not null;
-- Those that upkeep looks at.
create index missions_under_way on missions (workspace_id, mission_id) where completed_at is null;

-- How many work tasks of a mission are in each state: changed by the transaction that changes the task, right before its events.
create table mission_counters (
  workspace_id integer not null,
  mission_id bigint not null,
  pending integer not null default 0 check (pending >= 0),
  queued integer not null default 0 check (queued >= 0),
  awaiting_retry integer not null default 0 check (awaiting_retry >= 0),
  assigned integer not null default 0 check (assigned >= 0),
  running integer not null default 0 check (running >= 0),
  continuing integer not null default 0 check (continuing >= 0),
  verifying integer not null default 0 check (verifying >= 0),
  awaiting_human integer not null default 0 check (awaiting_human >= 0),
  paused integer not null default 0 check (paused >= 0),
  budget_exceeded integer not null default 0 check (budget_exceeded >= 0),
  completed integer not null default 0 check (completed >= 0),
  failed integer not null default 0,
  cancelled integer not null default 0 check (cancelled >= 0),
  skipped integer not null default 0 check (skipped >= 0),
  failed_optional integer not null default 0 check (failed_optional between 0 and failed),
  tokens bigint not null default 0 check (tokens >= 0),
  usd numeric(24, 9) not null default 0 check (usd >= 0),
  primary key (workspace_id, mission_id),
  foreign key (workspace_id, mission_id) references missions (workspace_id, mission_id)
) with (fillfactor = 50,
  autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);

-- Every version of every plan. Rows are only inserted: a version never changes.
create table mission_plans (
  workspace_id integer not null,
  mission_id bigint not null,
  version integer not null check (version >= 1),
  digest text not null,
  task_count integer not null check (task_count >= 0),
  strategy text,
  estimated_tokens bigint not null check (estimated_tokens >= 0),
  estimated_usd numeric(24, 9) check (estimated_usd >= 0),
  body json not null,
  proposed_by text not null,
  proposed_at timestamptz not null,
  primary key (workspace_id, mission_id, version),
  foreign key (workspace_id, mission_id) references missions (workspace_id, mission_id)
);

-- Tasks that have not ended, and tasks that are held.
create function open_tasks(c mission_counters) returns integer language sql immutable parallel safe
  as $$ select c.pending + c.queued + c.awaiting_retry + c.assigned + c.running + c.continuing + c.verifying + c.awaiting_human
    + c.paused + c.budget_exceeded $$;
create function held_tasks(c mission_counters) returns integer language sql immutable parallel safe
  as $$ select c.assigned + c.running + c.continuing $$;

-- Two transactions may both find that a mission goes on; the one that ends it, or opens it again, starts over with its lock.
create function refuse_missions_to_settle(workspace integer, missions bigint[], changes integer[]) returns void
  language plpgsql as $$
declare
  found bigint[];
begin
  select array_agg(c.mission_id) into found
    from unnest(missions, changes) as d(mission_id, change)
    join mission_counters c on c.workspace_id = workspace and c.mission_id = d.mission_id
   where (open_tasks(c) = 0) <> (open_tasks(c) - d.change = 0);
  if found is not null then
    raise exception 'missions end or open again' using errcode = 'BT002', detail = array_to_string(found, ',');
  end if;
end $$;

-- A claim does not lock the mission of its task. Whether its gate was closed meanwhile is checked while the workspace counter is
-- locked, which a transaction that closes a gate needs too; then the claim starts over.
create function refuse_claims_in_closed_missions(workspace integer, missions bigint[], purposes text[]) returns void
  language plpgsql as $$
begin
  if exists (select from unnest(missions, purposes) as d(mission_id, purpose)
      join missions m on m.workspace_id = workspace and m.mission_id = d.mission_id
      join mission_counters c on c.workspace_id = workspace and c.mission_id = d.mission_id
     where m.open_for not in ('all', d.purpose) or (d.purpose = 'work' and held_tasks(c) > m.max_parallel)) then
    raise exception 'a mission was closed after it was read' using errcode = 'BT001';
  end if;
end $$;

do $$
declare name text;
begin
  foreach name in array array['missions', 'mission_counters', 'mission_plans'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy own_workspace on %I using (workspace_id = (select current_workspace()))', name);
  end loop;
  foreach name in array array['missions', 'mission_counters'] loop
    execute format('create policy upkeep_reads on %I for select
      using ((select current_setting(''baton.scope'', true)) = ''upkeep'')', name);
  end loop;
end $$;
