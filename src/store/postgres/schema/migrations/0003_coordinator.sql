-- The coordinator: agents and their health, what is watched while tasks are held, nodes and who coordinates.

alter table agents
  add column model text,
  add column adapter_type text not null default 'external' check (adapter_type <> ''),
  add column adapter_config json,
  add column runtime_config json,
  add column max_concurrent_tasks integer check (max_concurrent_tasks >= 1),
  add column heartbeat_ms bigint not null default 30000 check (heartbeat_ms > 0),
  add column stale_ms bigint not null default 180000 check (stale_ms > 0),
  -- Who merely claims comes for its work by itself; whoever is registered on purpose is given some.
  add column coordinator_enabled boolean not null default false,
  add column batch_size integer not null default 1 check (batch_size >= 1),
  add column state text not null default 'idle' check (state in ('idle', 'paused', 'error', 'offline', 'terminated')),
  add column state_reason text,
  add column leaving boolean not null default false,
  add column registered boolean not null default false,
  add column version integer not null default 1,
  add column updated_at timestamptz not null default clock_timestamp(),
  add check (not (leaving and state = 'terminated'));
-- Claims look at these agents alone: most have no limit, and cost nothing.
create index agents_bound on agents (workspace_id, slug)
  where max_concurrent_tasks is not null or leaving or state in ('paused', 'terminated');
create index agents_leaving on agents (workspace_id, slug) where leaving;
create index agents_to_be_given on agents (workspace_id, slug) where coordinator_enabled and state = 'idle';

-- Claims of agents that nothing binds do not lock them. Whether one is bound by now is asked when the counter of the workspace is
-- locked, which whoever binds it needs too: then the claim starts over.
create function refuse_claims_of_bound_agents(workspace integer, unbound text[]) returns void language plpgsql as $$
begin
  if exists (select from agents b where b.workspace_id = workspace and b.slug = any(unbound)
      and (b.max_concurrent_tasks is not null or b.leaving or b.state in ('paused', 'terminated'))) then
    raise exception 'an agent is bound by something it was not' using errcode = 'BT001';
  end if;
end $$;
-- The other way round: who is terminated or removed holds nothing, also not what it took meanwhile.
create function refuse_claims_of_terminated_agents(workspace integer, terminated text[]) returns void language plpgsql as $$
begin
  if exists (select from claims c where c.workspace_id = workspace and c.agent = any(terminated) and c.state = 'active') then
    raise exception 'a terminated agent holds something' using errcode = 'BT001';
  end if;
end $$;

-- What the last beat of an agent told: one narrow row each, changed in place. A beat leaves due_at alone, which is the only
-- thing with an index, so a flood of beats neither moves index entries nor grows the table.
create table agent_health (
  workspace_id integer not null,
  slug text collate "C" not null,
  last_seen_at timestamptz not null,
  has_beaten boolean not null,
  sent_at timestamptz,
  status text not null check (status in ('healthy', 'degraded')),
  session text,
  current_task text,
  progress_percent double precision check (progress_percent between 0 and 100),
  step text,
  memory_mb double precision,
  cpu_percent double precision,
  metadata json,
  due_at timestamptz,
  primary key (workspace_id, slug),
  foreign key (workspace_id, slug) references agents (workspace_id, slug) on delete cascade
) with (fillfactor = 40);
create index agent_health_due on agent_health (due_at) where due_at is not null;

create index claims_of_agent on claims (workspace_id, agent) where state = 'active' and agent is not null;

alter table tasks add column watch json;
alter table task_details
  add column metadata json,
  add column created_by text;

alter table limits
  add column assign_timeout_seconds integer not null default 120 check (assign_timeout_seconds >= 1),
  add column stall_timeout_seconds integer check (stall_timeout_seconds >= 1),
  add column verify_timeout_seconds integer not null default 180 check (verify_timeout_seconds >= 1),
  add column hang_grace_seconds integer not null default 1800 check (hang_grace_seconds >= 0),
  add column hang_abort_seconds integer not null default 600 check (hang_abort_seconds >= 1),
  add column queue_order text not null default 'priority' check (queue_order in ('priority', 'shortest_first'));

-- How far the ends of tasks in the log have been followed to what waits for them.
create table follow_cursors (
  workspace_id integer primary key references workspaces,
  followed_seq bigint not null default 0 check (followed_seq >= 0)
) with (fillfactor = 50);

-- What happened to no task in particular and what the coordinator did to tasks (COORDINATOR_EVENTS in core/log.ts): few, and
-- read by people who look after the house. By type: of the rare ones nobody should have to walk over the frequent ones.
create index events_of_the_house on events (workspace_id, type, seq) where task_id is null or type in (
  'task_lease_expired', 'task_worker_lost', 'task_agent_lost', 'task_stalled', 'task_hung', 'task_hang_suspected',
  'task_requeued', 'task_failed', 'alert_raised', 'dependency_cycle_found');

-- The processes on this database, and which of them coordinates. They belong to no workspace; 0 stands for the house.
create table nodes (
  workspace_id integer not null default 0 check (workspace_id = 0),
  node_id uuid not null,
  name text not null check (name <> ''),
  pid integer not null,
  version text not null,
  started_at timestamptz not null,
  last_seen_at timestamptz not null,
  stopped_at timestamptz,
  primary key (workspace_id, node_id)
) with (fillfactor = 50);

-- One row a term of office, like one row a generation of a task: the newest is the one that counts.
create table leader_leases (
  workspace_id integer not null default 0 check (workspace_id = 0),
  office text collate "C" not null check (office <> ''),
  term integer not null check (term >= 1),
  node_id uuid not null,
  taken_at timestamptz not null,
  renewed_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  end_reason text,
  primary key (workspace_id, office, term),
  foreign key (workspace_id, node_id) references nodes (workspace_id, node_id),
  check ((ended_at is null) = (end_reason is null)),
  check (end_reason in ('EXPIRED', 'RESIGNED')),
  check (expires_at > renewed_at)
) with (fillfactor = 50);
create unique index leader_leases_one_open on leader_leases (workspace_id, office) where ended_at is null;

do $$
declare name text;
begin
  foreach name in array array['agent_health', 'follow_cursors'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy own_workspace on %I using (workspace_id = (select current_workspace()))', name);
  end loop;
  -- Of the house: shown to whoever names it, and to transactions that must know whether their term of office lasts.
  foreach name in array array['nodes', 'leader_leases'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy of_the_house on %I using ((select current_setting(''baton.scope'', true)) = ''house'')', name);
  end loop;
end $$;
create policy term_lasts on leader_leases for select using ((select current_workspace()) is not null);
-- Locking a row is, to a policy, as good as changing it.
create policy term_is_kept on leader_leases for update using ((select current_workspace()) is not null) with check (false);

create policy upkeep_looks on agents for select using ((select current_setting('baton.scope', true)) = 'upkeep');
create policy upkeep_looks on agent_health for select using ((select current_setting('baton.scope', true)) = 'upkeep');
create policy upkeep_looks on follow_cursors for select using ((select current_setting('baton.scope', true)) = 'upkeep');
create policy upkeep_looks on workspace_counters for select using ((select current_setting('baton.scope', true)) = 'upkeep');
create policy upkeep_looks on events for select using ((select current_setting('baton.scope', true)) = 'upkeep');
create policy upkeep_looks on workspaces for select using ((select current_setting('baton.scope', true)) = 'upkeep');

alter table agent_health set (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
alter table follow_cursors set (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
alter table nodes set (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
alter table leader_leases set (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
