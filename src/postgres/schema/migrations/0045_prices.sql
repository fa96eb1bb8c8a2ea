-- The prices of models that a workspace has set: dollars for a million tokens. What is not here costs what the list says.
create table prices (
  workspace_id integer not null references workspaces,
  model text collate "C" not null check (model <> ''),
  input numeric not null check (input >= 0),
  cached_input numeric not null check (cached_input >= 0),
  cache_write numeric check (cache_write >= 0),
  cache_write_1h numeric check (cache_write_1h >= 0),
  output numeric not null check (output >= 0),
  -- The same for long requests, and from how many tokens on.
  long_context json check (json_typeof(long_context) = 'object'),
  changed_at timestamptz not null,
  primary key (workspace_id, model)
);
alter table prices enable row level security;
alter table prices force row level security;
create policy own_workspace on prices using (workspace_id = (select current_workspace()));
