-- What each run was told: its prompt, written as it begins, and the call that started its agent. Both are redacted and bounded,
-- and deleted with its log. A table of its own: rows of runs are read often, and never with it.
create table run_invocations (
  workspace_id integer not null,
  run_id uuid not null,
  told json not null,
  -- A program or a request; null until its agent is called, or of an adapter that does not say.
  call json,
  created_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, run_id),
  foreign key (workspace_id, run_id) references runs (workspace_id, run_id) on delete cascade
);
alter table run_invocations enable row level security;
alter table run_invocations force row level security;
create policy own_workspace on run_invocations using (workspace_id = (select current_workspace()));
