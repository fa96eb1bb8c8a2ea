-- Alerts: what is wrong, from when it was noticed until it is over.
create table alerts (
  workspace_id integer not null references workspaces,
  alert_id uuid not null,
  cause text collate "C" not null check (cause <> ''),
  -- Empty: the workspace, or the instance.
  subject text collate "C" not null,
  number integer not null check (number >= 1),
  scope text collate "C" not null check (scope in ('workspace', 'instance')),
  severity text collate "C" not null check (severity in ('info', 'warning', 'critical')),
  name text,
  detail text,
  -- No foreign keys: an alert outlives what it is about.
  task_id bigint,
  mission_id bigint,
  count integer not null check (count >= 1),
  first_at timestamptz not null,
  last_at timestamptz not null,
  last_seq bigint check (last_seq >= 1),
  acknowledged_at timestamptz,
  acknowledged_by text,
  comment text,
  resolved_at timestamptz,
  primary key (workspace_id, alert_id),
  -- The instance has its alerts in the first workspace.
  check (scope = 'workspace' or workspace_id = 1),
  check (last_at >= first_at),
  check (resolved_at >= first_at),
  check (acknowledged_at >= first_at),
  check ((acknowledged_at is null) = (acknowledged_by is null)),
  check (comment is null or acknowledged_at is not null)
) with (fillfactor = 70);
-- Of one cause about one subject, one is open at a time.
create unique index alerts_open on alerts (workspace_id, cause, subject) where resolved_at is null;
create unique index alerts_of_subject on alerts (workspace_id, cause, subject, number);
create index alerts_listed on alerts (workspace_id, first_at desc, alert_id);
create index alerts_standing on alerts (workspace_id, first_at) where resolved_at is null;
create index alerts_over on alerts (resolved_at) where resolved_at is not null;

alter table alerts enable row level security;
alter table alerts force row level security;
create policy own_workspace on alerts using (workspace_id = (select current_workspace()));
create policy upkeep_reads on alerts for select using ((select current_setting('baton.scope', true)) = 'upkeep');
-- Retention: only what is over.
create policy upkeep_deletes on alerts for delete
  using ((select current_setting('baton.scope', true)) = 'upkeep' and resolved_at is not null);

-- The thresholds that a workspace has set. What is not here is as the list of causes says.
create table alert_thresholds (
  workspace_id integer not null references workspaces,
  cause text collate "C" not null check (cause <> ''),
  value bigint not null check (value >= 0),
  is_on boolean not null,
  changed_at timestamptz not null,
  primary key (workspace_id, cause)
);
alter table alert_thresholds enable row level security;
alter table alert_thresholds force row level security;
create policy own_workspace on alert_thresholds using (workspace_id = (select current_workspace()));

-- A workspace that a server serves has keys; a queue in a library has none, and nobody follows its log.
create policy upkeep_reads on api_keys for select using ((select current_setting('baton.scope', true)) = 'upkeep');
