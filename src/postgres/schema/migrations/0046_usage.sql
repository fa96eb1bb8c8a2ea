-- The ledger of what runs and claims have used, and the budgets that limit it. A source is a run (generation 0), or a claim of an agent
-- that Baton does not run.
create table usage_sources (
  workspace_id integer not null references workspaces,
  source_id uuid not null,
  generation integer not null check (generation >= 0),
  agent text collate "C" not null,
  session text,
  task_id bigint,
  mission_id bigint,
  project_id integer not null default 0,
  task_type text collate "C",
  operation text not null check (operation in ('work', 'planning', 'verification', 'report')),
  is_simulated boolean not null default false,
  -- The last report that was booked, and how many rows there are.
  number integer not null default 0 check (number >= 0),
  rows integer not null default 0 check (rows >= 0),
  row_at timestamptz,
  -- By model: what is booked of it.
  booked json not null default '{}',
  input_tokens bigint not null default 0,
  cached_input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  -- What is paid by use, and what is not; null: nothing of it is known.
  cost_usd numeric(24, 12),
  notional_usd numeric(24, 12),
  is_cost_unknown boolean not null default false,
  started_at timestamptz not null,
  updated_at timestamptz not null,
  told_at timestamptz,
  primary key (workspace_id, source_id, generation),
  foreign key (workspace_id, task_id) references tasks (workspace_id, id),
  foreign key (workspace_id, mission_id) references missions (workspace_id, mission_id)
) with (fillfactor = 60);
create index usage_of_task on usage_sources (workspace_id, task_id) where task_id is not null;
create index usage_of_mission on usage_sources (workspace_id, mission_id) where mission_id is not null;
create index usage_of_agent on usage_sources (workspace_id, agent, task_type, started_at desc);

create table usage (
  workspace_id integer not null,
  source_id uuid not null,
  generation integer not null,
  model text collate "C" not null,
  number integer not null check (number >= 1),
  basis text collate "C" not null check (basis in ('reported', 'priced', 'notional', 'unknown')),
  at timestamptz not null,
  -- Differences: a correction may be negative.
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  cache_write_5m_tokens bigint not null,
  cache_write_1h_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint,
  cost_usd numeric(24, 12),
  primary key (workspace_id, source_id, generation, model, number, basis),
  foreign key (workspace_id, source_id, generation) references usage_sources
);
create index usage_in_time on usage (workspace_id, at desc, source_id, generation, model, number);

-- The same by quarters of an hour, so that days of any time zone are added up from few rows.
create table usage_quarters (
  workspace_id integer not null,
  quarter timestamptz not null,
  source_id uuid not null,
  generation integer not null,
  model text collate "C" not null,
  basis text collate "C" not null,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  output_tokens bigint not null,
  cost_usd numeric(24, 12),
  primary key (workspace_id, quarter, source_id, generation, model, basis),
  foreign key (workspace_id, source_id, generation) references usage_sources
) with (fillfactor = 60);

create table budgets (
  workspace_id integer not null references workspaces,
  budget_id uuid not null,
  scope text not null check (scope in ('workspace', 'project', 'mission', 'task', 'agent')),
  scope_key text collate "C" not null,
  scope_id text,
  period text collate "C" not null check (period in ('none', 'day', 'week', 'month')),
  period_start timestamptz not null,
  period_end timestamptz,
  max_usd numeric(24, 12) check (max_usd >= 0),
  max_tokens bigint check (max_tokens >= 1),
  count_notional boolean not null default false,
  on_unknown_price text not null default 'ask' check (on_unknown_price in ('ask', 'stop', 'allow')),
  allowed_models text[] not null default '{}',
  unknown_model text,
  consumed_usd numeric(24, 12) not null default 0 check (consumed_usd >= 0),
  consumed_tokens bigint not null default 0 check (consumed_tokens >= 0),
  reserved_usd numeric(24, 12) not null default 0 check (reserved_usd >= 0),
  reserved_tokens bigint not null default 0 check (reserved_tokens >= 0),
  is_paced boolean not null default false,
  warned_at timestamptz,
  exceeded_at timestamptz,
  stopped_at timestamptz,
  stopped_by text,
  count_due_at timestamptz,
  version integer not null default 1 check (version >= 1),
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, budget_id),
  check ((period = 'none') = (period_end is null)),
  check ((scope = 'workspace') = (scope_id is null)),
  check (period_end > period_start),
  check ((stopped_at is null) = (stopped_by is null))
) with (fillfactor = 50,
  autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
create unique index budgets_of_scope on budgets (workspace_id, scope_key, period);
create index budgets_turning on budgets (period_end) where period_end is not null;
create index budgets_counting on budgets (count_due_at) where count_due_at is not null;

-- What claims, and runs without a task, may still use of the budgets that they count in.
create table budget_reservations (
  workspace_id integer not null references workspaces,
  holder_id uuid not null,
  generation integer not null check (generation >= 0),
  -- A list of ids.
  budget_ids json not null,
  tokens bigint not null check (tokens >= 0),
  usd numeric(24, 12) not null check (usd >= 0),
  step_tokens bigint not null check (step_tokens >= 0),
  step_usd numeric(24, 12) not null check (step_usd >= 0),
  reserved_at timestamptz not null,
  primary key (workspace_id, holder_id, generation)
) with (fillfactor = 50);

alter table limits add column time_zone text not null default 'UTC';
alter table runs add column cost_basis text;
-- What the runs of a mission cost that is not paid by use.
alter table mission_counters add column notional_usd numeric(24, 12) not null default 0;

do $$
declare name text;
begin
  foreach name in array array['usage_sources', 'usage', 'usage_quarters', 'budgets', 'budget_reservations'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy own_workspace on %I using (workspace_id = (select current_workspace()))', name);
    execute format('create policy upkeep_reads on %I for select using ((select current_setting(''baton.scope'', true)) = ''upkeep'')', name);
  end loop;
end $$;

-- Runs from before the ledger.
insert into usage_sources (workspace_id, source_id, generation, agent, session, task_id, mission_id, project_id, task_type, operation,
    rows, row_at, booked, input_tokens, cached_input_tokens, output_tokens, cost_usd, is_cost_unknown, started_at, updated_at)
  select r.workspace_id, r.run_id, 0, r.agent, r.session, r.task_id, t.mission_id, coalesce(t.project_id, 0), d.task_type,
      coalesce(t.purpose, 'work'), 1, coalesce(r.finished_at, r.started_at, r.created_at),
      json_build_object(coalesce(r.model, 'unknown'), json_build_object(
        'inputTokens', coalesce(r.input_tokens, 0), 'cachedInputTokens', coalesce(r.cached_input_tokens, 0), 'cacheWrite5mTokens', 0,
        'cacheWrite1hTokens', 0, 'outputTokens', coalesce(r.output_tokens, 0), 'reasoningTokens', null,
        'costUsd', trim_scale(r.cost_usd)::text, 'basis', case when r.cost_usd is null then 'unknown' else 'reported' end)),
      coalesce(r.input_tokens, 0), coalesce(r.cached_input_tokens, 0), coalesce(r.output_tokens, 0), r.cost_usd, r.cost_usd is null,
      coalesce(r.started_at, r.created_at), coalesce(r.finished_at, r.started_at, r.created_at)
    from runs r
    left join tasks t on t.workspace_id = r.workspace_id and t.id = r.task_id
    left join task_details d on d.workspace_id = r.workspace_id and d.task_id = r.task_id
   where coalesce(r.input_tokens, r.output_tokens, r.cost_usd) is not null;
insert into usage (workspace_id, source_id, generation, model, number, basis, at, input_tokens, cached_input_tokens,
    cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, cost_usd)
  select s.workspace_id, s.source_id, 0, coalesce(r.model, 'unknown'), 1, case when r.cost_usd is null then 'unknown' else 'reported' end,
      s.updated_at, s.input_tokens, s.cached_input_tokens, 0, 0, s.output_tokens, s.cost_usd
    from usage_sources s join runs r on r.workspace_id = s.workspace_id and r.run_id = s.source_id;
insert into usage_quarters (workspace_id, quarter, source_id, generation, model, basis, input_tokens, cached_input_tokens, output_tokens, cost_usd)
  select u.workspace_id, date_bin('15 minutes', u.at, timestamptz '2000-01-01 00:00:00+00'), u.source_id, 0, u.model, u.basis,
      u.input_tokens, u.cached_input_tokens, u.output_tokens, u.cost_usd
    from usage u;

-- Others have reserved or used it meanwhile: the batch is decided again.
create function refuse_reservation() returns bigint language plpgsql as $$
begin
  raise exception 'a budget has no room for this' using errcode = 'BT001';
end $$;

-- The id of the budget of a scope with a period: there is one of each.
create function budget_id(scope_key text, period text) returns uuid language sql immutable parallel safe
  as $$ select overlay(overlay(md5(scope_key || '/' || period) placing '7' from 13) placing '8' from 17)::uuid $$;

-- The budgets that missions and tasks have already.
insert into budgets (workspace_id, budget_id, scope, scope_key, scope_id, period, period_start, max_usd, max_tokens, count_due_at,
    created_by, created_at, updated_at)
  select m.workspace_id, budget_id('mission:' || m.mission_id, 'none'), 'mission', 'mission:' || m.mission_id, m.uuid::text, 'none',
      to_timestamp(0), coalesce(m.config -> 'budget' ->> 'maxUsd', m.config -> 'budget' ->> 'limitUsd')::numeric,
      coalesce(m.config -> 'budget' ->> 'maxTokens', m.config -> 'budget' ->> 'limitTokens')::bigint, clock_timestamp(),
      'system', m.created_at, m.created_at
    from missions m where m.config ->> 'budget' is not null and m.completed_at is null;
insert into budgets (workspace_id, budget_id, scope, scope_key, scope_id, period, period_start, max_usd, max_tokens, count_due_at,
    created_by, created_at, updated_at)
  select t.workspace_id, budget_id('task:' || t.id, 'none'), 'task', 'task:' || t.id, t.uuid::text, 'none', to_timestamp(0),
      coalesce(d.plan -> 'budget' ->> 'maxUsd', d.plan -> 'budget' ->> 'limitUsd')::numeric,
      coalesce(d.plan -> 'budget' ->> 'maxTokens', d.plan -> 'budget' ->> 'limitTokens')::bigint, clock_timestamp(),
      'system', t.created_at, t.created_at
    from tasks t join task_details d on d.workspace_id = t.workspace_id and d.task_id = t.id
   where d.plan ->> 'budget' is not null and t.completed_at is null;
