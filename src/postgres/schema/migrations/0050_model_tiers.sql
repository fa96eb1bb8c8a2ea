-- The models that a workspace has named for small, medium and large tasks, by the adapter of the agents that get them.
create table model_tiers (
  workspace_id integer not null references workspaces,
  adapter_type text collate "C" not null check (adapter_type <> ''),
  small text check (small <> ''),
  medium text check (medium <> ''),
  large text check (large <> ''),
  changed_at timestamptz not null,
  primary key (workspace_id, adapter_type),
  check (num_nonnulls(small, medium, large) > 0)
);
alter table model_tiers enable row level security;
alter table model_tiers force row level security;
create policy own_workspace on model_tiers using (workspace_id = (select current_workspace()));
