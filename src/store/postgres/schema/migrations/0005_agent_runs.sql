-- Agents that Baton runs itself: what wakes them, their runs, and what is remembered from one run to the next.

-- By these a node, and what it started, is known again after it was killed.
alter table nodes
  add column host text not null default '',
  add column boot_id text,
  add column pid_started text;

-- Agents that a clock wakes. What was stored before anybody checked it may be no number.
create index agents_timed on agents (workspace_id, slug) where json_typeof(runtime_config -> 'heartbeat' -> 'intervalSec') = 'number';

-- Agents that are looked after whether they hold something or not.
create index agents_managed on agents (workspace_id, slug) where adapter_type <> 'external';

-- One row an agent that was ever woken: counters, and when it may be woken next. Whoever decides about its runs locks this row.
create table agent_runtime_state (
  workspace_id integer not null,
  agent text collate "C" not null,
  adapter_type text not null,
  session_id text,
  state json not null default '{}',
  last_run_id uuid,
  last_run_status text check (last_run_status in ('succeeded', 'failed', 'cancelled', 'timed_out')),
  last_error text,
  runs bigint not null default 0 check (runs >= 0),
  total_input_tokens bigint not null default 0 check (total_input_tokens >= 0),
  total_output_tokens bigint not null default 0 check (total_output_tokens >= 0),
  total_cached_input_tokens bigint not null default 0 check (total_cached_input_tokens >= 0),
  total_cost_usd numeric(24, 9) not null default 0 check (total_cost_usd >= 0),
  last_started_at timestamptz,
  next_timer_at timestamptz,
  parked_until timestamptz,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, agent),
  foreign key (workspace_id, agent) references agents (workspace_id, slug) on delete cascade
) with (fillfactor = 60);

-- Credentials that are out of tokens for a while: nobody on them is started.
create table parked_credentials (
  workspace_id integer not null references workspaces,
  credential text collate "C" not null check (credential <> ''),
  until timestamptz not null,
  primary key (workspace_id, credential)
);

-- What an agent's program remembers of a task under this name; '' is for runs without a task.
create table agent_task_sessions (
  workspace_id integer not null,
  agent text collate "C" not null,
  adapter_type text collate "C" not null,
  task_key text collate "C" not null,
  session_params json not null default '{}',
  session_display_id text,
  last_run_id uuid,
  last_error text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, agent, adapter_type, task_key),
  foreign key (workspace_id, agent) references agents (workspace_id, slug) on delete cascade
);

create table wakeups (
  workspace_id integer not null,
  wakeup_id uuid not null,
  agent text collate "C" not null,
  source text not null check (source in ('timer', 'assignment', 'on_demand', 'automation')),
  trigger_detail text check (trigger_detail in ('manual', 'ping', 'callback', 'system')),
  reason text,
  payload json,
  status text not null check (status in ('queued', 'claimed', 'coalesced', 'skipped', 'completed', 'failed', 'cancelled')),
  skip_reason text,
  coalesced_count integer not null default 0 check (coalesced_count >= 0),
  into_id uuid,
  requested_by text not null,
  idempotency_key text collate "C",
  -- What it is about; 0 for nothing in particular, so that one index can tell what is the same.
  task_id bigint not null default 0,
  task_uuid uuid,
  generation integer check (generation >= 1),
  priority smallint not null check (priority >= 0),
  requested_at timestamptz not null,
  due_at timestamptz not null,
  claimed_at timestamptz,
  finished_at timestamptz,
  run_id uuid,
  error text,
  primary key (workspace_id, wakeup_id),
  foreign key (workspace_id, agent) references agents (workspace_id, slug) on delete cascade,
  foreign key (workspace_id, into_id) references wakeups (workspace_id, wakeup_id) on delete cascade,
  check ((task_id = 0) = (task_uuid is null)),
  check (generation is null or task_id <> 0),
  check ((run_id is null) = (claimed_at is null)),
  check (status not in ('claimed', 'completed', 'failed') or run_id is not null),
  check (status not in ('queued', 'coalesced') or run_id is null),
  check ((status = 'coalesced') = (into_id is not null)),
  check ((status = 'skipped') = (skip_reason is not null)),
  check ((status in ('queued', 'claimed')) = (finished_at is null))
) with (fillfactor = 70);
-- Of what says the same, one waits.
create unique index wakeups_one_waits on wakeups (workspace_id, agent, task_id) where status = 'queued';
create unique index wakeups_asked_once on wakeups (workspace_id, agent, idempotency_key) where idempotency_key is not null;
create index wakeups_due on wakeups (due_at) where status = 'queued';
create index wakeups_of_agent on wakeups (workspace_id, agent, wakeup_id desc);
create index wakeups_of_task on wakeups (workspace_id, agent, task_id, requested_at) where task_id <> 0;
create index wakeups_over on wakeups (finished_at) where finished_at is not null;
-- With one that is forgotten go those that it took along.
create index wakeups_taken_along on wakeups (workspace_id, into_id) where into_id is not null;

-- Runs outlive the agents that made them.
create table runs (
  workspace_id integer not null references workspaces,
  run_id uuid not null,
  agent text collate "C" not null,
  agent_id uuid not null,
  adapter_type text not null,
  wakeup_id uuid,
  source text not null check (source in ('timer', 'assignment', 'on_demand', 'automation')),
  trigger_detail text check (trigger_detail in ('manual', 'ping', 'callback', 'system')),
  reason text,
  status text not null check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'timed_out')),
  error_code text,
  error_message text,
  task_id bigint,
  task_uuid uuid,
  generation integer check (generation >= 1),
  attempt integer check (attempt >= 0),
  session text,
  -- Where it runs, and by what its process is known.
  node_id uuid not null,
  boot_id text,
  pid integer check (pid > 0),
  pid_started text,
  -- Known only by this; the token itself is with the agent alone.
  token_hash bytea check (length(token_hash) = 32),
  cancel_reason text,
  exit_code integer,
  signal text,
  input_tokens bigint check (input_tokens >= 0),
  cached_input_tokens bigint check (cached_input_tokens >= 0),
  output_tokens bigint check (output_tokens >= 0),
  cost_usd numeric(24, 9) check (cost_usd >= 0),
  usage_basis text check (usage_basis in ('reported', 'delta', 'partial')),
  provider text,
  model text,
  session_id_before text,
  session_id_after text,
  status_message text,
  status_color text,
  summary text,
  result json,
  folder json,
  stdout_excerpt text,
  stderr_excerpt text,
  log_store text check (log_store in ('local_file', 'object_store', 'postgres')),
  log_ref text,
  log_bytes bigint check (log_bytes >= 0),
  log_sha256 text,
  log_compressed boolean not null default false,
  log_truncated boolean not null default false,
  log_gone_at timestamptz,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  primary key (workspace_id, run_id),
  foreign key (workspace_id, task_id) references tasks (workspace_id, id),
  check ((status in ('queued', 'running')) = (finished_at is null)),
  check (status not in ('failed', 'timed_out') or error_code is not null),
  check (status <> 'succeeded' or error_code is null),
  check (status <> 'queued' or started_at is null),
  check (status <> 'running' or started_at is not null),
  -- It dies with the run.
  check (token_hash is null or status in ('queued', 'running')),
  check (num_nulls(task_id, task_uuid, generation, attempt, session) in (0, 5)),
  check (num_nulls(input_tokens, output_tokens, usage_basis) in (0, 3)),
  check (cached_input_tokens is null or input_tokens is not null),
  check (log_gone_at is null or log_ref is not null),
  check ((log_store is null) = (log_ref is null))
) with (fillfactor = 70);
create index runs_of_agent on runs (workspace_id, agent, run_id desc);
create index runs_of_task on runs (workspace_id, task_id, run_id desc) where task_id is not null;
create index runs_alive on runs (node_id) where status in ('queued', 'running');
create index runs_alive_of_agent on runs (workspace_id, agent) where status in ('queued', 'running');
create unique index runs_by_token on runs (token_hash) where token_hash is not null;
create index runs_with_log on runs (finished_at) where log_ref is not null and log_gone_at is null and finished_at is not null;
-- Of one claim, one run at a time.
create unique index runs_one_a_claim on runs (workspace_id, task_id, generation)
  where status in ('queued', 'running') and task_id is not null;

create table run_events (
  workspace_id integer not null,
  run_id uuid not null,
  seq integer not null check (seq >= 1),
  event_type text not null check (event_type in ('lifecycle', 'status', 'usage', 'error', 'structured')),
  stream text check (stream in ('system', 'stdout', 'stderr')),
  level text check (level in ('info', 'warn', 'error')),
  color text,
  message text,
  payload json,
  created_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, run_id, seq),
  foreign key (workspace_id, run_id) references runs (workspace_id, run_id) on delete cascade
);

-- The output of runs, for houses that keep it here.
create table run_log_chunks (
  workspace_id integer not null references workspaces,
  run_id uuid not null,
  chunk_offset bigint not null check (chunk_offset >= 0),
  bytes integer not null check (bytes >= 0),
  stream text not null check (stream in ('system', 'stdout', 'stderr')),
  at timestamptz not null,
  content bytea not null,
  primary key (workspace_id, run_id, chunk_offset)
);

do $$
declare name text;
begin
  foreach name in array array['agent_runtime_state', 'parked_credentials', 'agent_task_sessions', 'wakeups', 'runs', 'run_events',
      'run_log_chunks'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy own_workspace on %I using (workspace_id = (select current_workspace()))', name);
  end loop;
  foreach name in array array['agent_runtime_state', 'wakeups', 'runs'] loop
    execute format('create policy upkeep_looks on %I for select using ((select current_setting(''baton.scope'', true)) = ''upkeep'')', name);
  end loop;
end $$;
-- The one run whose token was presented, while it lives.
create policy by_token on runs for select
  using (token_hash = decode(nullif((select current_setting('baton.key_hash', true)), ''), 'hex') and status in ('queued', 'running'));

alter table agent_runtime_state set (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
alter table wakeups set (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_threshold = 500, autovacuum_analyze_scale_factor = 0.05);
alter table runs set (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_threshold = 500, autovacuum_analyze_scale_factor = 0.05);
alter table run_log_chunks set (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.02);
