-- Hooks: addresses that other programs call.
create table hooks (
  workspace_id integer not null references workspaces,
  hook_id uuid not null,
  name text collate "C" not null check (name <> ''),
  scheme text not null check (scheme in ('standard_webhooks', 'github', 'gitlab', 'secret_url')),
  -- The key of signatures; of tokens only the SHA-256.
  secret text not null,
  previous_secret text,
  previous_ends_at timestamptz,
  does json not null check (json_typeof(does) = 'object'),
  events text[] not null,
  conditions json not null check (json_typeof(conditions) = 'array'),
  per_minute integer not null check (per_minute between 1 and 6000),
  enabled boolean not null,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  version integer not null check (version > 0),
  removed_at timestamptz,
  primary key (workspace_id, hook_id),
  check ((previous_secret is null) = (previous_ends_at is null)),
  -- What is removed opens nothing.
  check ((removed_at is null) = (secret <> '')),
  check (removed_at is null or previous_secret is null)
);
create unique index hooks_by_name on hooks (workspace_id, name) where removed_at is null;
-- A delivery names its hook before it has a workspace.
create unique index hooks_by_id on hooks (hook_id);
alter table hooks enable row level security;
alter table hooks force row level security;
create policy own_workspace on hooks using (workspace_id = (select current_workspace()));
create policy called on hooks for select using (hook_id = nullif((select current_setting('baton.hook_id', true)), '')::uuid);
create policy upkeep_reads on hooks for select using ((select current_setting('baton.scope', true)) = 'upkeep');
create policy upkeep_deletes on hooks for delete using ((select current_setting('baton.scope', true)) = 'upkeep');

-- What came to them. The key is the hook and the id that the sender gave: none is done twice.
create table hook_deliveries (
  workspace_id integer not null references workspaces,
  key text collate "C" not null,
  delivery_id uuid not null,
  hook_id uuid not null,
  sent_as text,
  event text,
  address text,
  bytes integer not null check (bytes >= 0),
  verdict text not null check (verdict in ('done', 'ignored', 'failed', 'refused')),
  reason text,
  made text check (made in ('wakeup', 'task', 'mission')),
  made_id uuid,
  repeats integer not null check (repeats >= 0),
  received_at timestamptz not null,
  primary key (workspace_id, key),
  foreign key (workspace_id, hook_id) references hooks on delete cascade,
  check ((made is null) = (made_id is null)),
  check ((verdict = 'done') = (made is not null)),
  check ((verdict = 'done') = (reason is null)),
  check (starts_with(key, hook_id::text || ' '))
);
create index hook_deliveries_newest on hook_deliveries (workspace_id, hook_id, delivery_id);
create index hook_deliveries_old on hook_deliveries (received_at);
alter table hook_deliveries enable row level security;
alter table hook_deliveries force row level security;
create policy own_workspace on hook_deliveries using (workspace_id = (select current_workspace()));
create policy upkeep_reads on hook_deliveries for select using ((select current_setting('baton.scope', true)) = 'upkeep');
create policy upkeep_deletes on hook_deliveries for delete using ((select current_setting('baton.scope', true)) = 'upkeep');
