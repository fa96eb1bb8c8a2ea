-- The queue for everyone: projects and tracks, parts of tasks, sessions that are workers, what failed and why.

create table projects (
  workspace_id integer not null references workspaces,
  project_id integer not null check (project_id > 0),
  uuid uuid not null,
  slug text collate "C" not null check (slug <> ''),
  name text not null check (name <> ''),
  created_at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, project_id),
  unique (workspace_id, slug),
  unique (workspace_id, uuid)
);
create sequence project_ids as integer;

-- A declared track: how many agents may be on it at once (null: any number).
create table tracks (
  workspace_id integer not null,
  project_id integer not null,
  track text collate "C" not null check (track <> ''),
  max_agents integer check (max_agents >= 1),
  sequential boolean not null default false,
  primary key (workspace_id, project_id, track),
  foreign key (workspace_id, project_id) references projects (workspace_id, project_id)
);

alter table tasks
  add column project_id integer not null default 0 check (project_id >= 0),
  add column line text collate "C" not null default '',
  -- Project, line and capabilities in one text: tasks of one lane are the same to whoever looks for work.
  add column lane text collate "C" not null default '',
  add column parent_id bigint,
  add column merge text not null default 'none' check (merge in ('none', 'object', 'task')),
  add column min_lease_ms integer not null default 0,
  add column expires_at timestamptz,
  add check (parent_id is null or merge = 'none'),
  add check (state <> 'queued' or due_at is not distinct from expires_at);
update tasks set capabilities = coalesce(capabilities, '{}'),
  line = case when key is null then '' when key like '%::%' then split_part(key, '-', 1) || '::' else split_part(key, '-', 1) end
  where capabilities is null or key is not null;
update tasks set lane = '0/' || line || '/' || array_to_json(capabilities) where line <> '' or capabilities <> '{}';
alter table tasks alter column capabilities set default '{}', alter column capabilities set not null;

-- The queue, lane by lane: from one lane the next is found in one step, however many tasks wait in between, so nobody
-- walks past work that is not for them. One text, not three columns: row-level security lets only comparisons that
-- cannot leak into an index, and those of rows and arrays are not among them.
drop index tasks_waiting;
create index tasks_waiting on tasks (workspace_id, lane, rank, id) where rank is not null and only_agent is null;
drop index tasks_key;
create unique index tasks_key on tasks (workspace_id, project_id, key) where key is not null;
create index tasks_parts on tasks (workspace_id, parent_id) where parent_id is not null;

-- Foreign keys in all but name, checked once for all rows of a statement and only where there is something to check: most
-- tasks are in no project and no part of anything.
create function tasks_belong() returns trigger language plpgsql as $$
begin
  if exists (select from added a where a.project_id <> 0 and not exists (
      select from projects p where p.workspace_id = a.workspace_id and p.project_id = a.project_id)) then
    raise foreign_key_violation using message = 'a task must belong to a project of its workspace';
  end if;
  if exists (select from added a where a.parent_id is not null and not exists (
      select from tasks t where t.workspace_id = a.workspace_id and t.id = a.parent_id)) then
    raise foreign_key_violation using message = 'a part must belong to a task of its workspace';
  end if;
  return null;
end $$;
create trigger tasks_belong after insert on tasks
  referencing new table as added for each statement execute function tasks_belong();

-- The same for what is written with every task and every result: a declared foreign key asks for each row by itself, which
-- costs more than the row.
alter table task_details drop constraint task_details_workspace_id_task_id_fkey;
alter table results drop constraint results_workspace_id_task_id_fkey;
create trigger task_details_belong_to_tasks after insert on task_details
  referencing new table as added for each statement execute function claims_belong_to_tasks();
create trigger results_belong_to_tasks after insert on results
  referencing new table as added for each statement execute function claims_belong_to_tasks();

alter table task_details
  add column user_ref text collate "C",
  add column error text,
  add column failure_class text,
  -- What ran out when it failed: with it, a failed task is a dead letter.
  add column exhausted text check (exhausted in ('attempts', 'generations'));
create index task_details_of_user on task_details (workspace_id, user_ref, task_id) where user_ref is not null;
create index task_details_dead on task_details (workspace_id, task_id) where exhausted is not null;

-- Who is on a track: one row an active claim of a task on a track of a project. Parts of tasks are not counted.
create table track_claims (
  workspace_id integer not null,
  task_id bigint not null,
  project_id integer not null,
  track text collate "C" not null,
  agent text collate "C" not null,
  primary key (workspace_id, task_id),
  foreign key (workspace_id, task_id) references tasks (workspace_id, id),
  foreign key (workspace_id, project_id) references projects (workspace_id, project_id)
);
create index track_claims_of_track on track_claims (workspace_id, project_id, track);

-- Each index on active claims says what it is for: a plan that is made while there are none cannot tell them apart by cost,
-- and would be kept.
drop index claims_one_active;
create unique index claims_one_active on claims (workspace_id, task_id) where state = 'active' and task_id is not null;
drop index claims_to_check;
create index claims_to_check on claims (check_at) where state = 'active' and check_at is not null;
create index claims_of_session on claims (workspace_id, session) where state = 'active' and session is not null;
-- What sessions lost against their will: few, so that a beat can tell at once what is gone since the one before.
create index claims_lost on claims (workspace_id, session, ended_at) where state in ('expired', 'superseded');
-- All a session ever held, and what is old. Claims only grow at their end, so summaries of stretches are enough.
create index claims_history on claims using brin (session text_bloom_ops) with (pages_per_range = 64, autosummarize = on);
create index claims_age on claims using brin (acquired_at) with (autosummarize = on);
create index results_rejected on results (workspace_id, submitted_at) where accepted is false;

alter table sessions
  add column project text,
  add column state text not null default 'active' check (state in ('active', 'draining', 'ended', 'lost')),
  add column declared boolean not null default false,
  add column capacity integer check (capacity >= 1),
  add column capabilities text[] not null default '{}',
  add column silence_ms bigint not null default 86400000 check (silence_ms > 0),
  add column due_at timestamptz,
  add column end_reason text;
update sessions set state = 'ended', end_reason = 'closed' where ended_at is not null;
update sessions set due_at = last_seen_at + interval '1 day' where ended_at is null;
alter table sessions
  add check ((state in ('ended', 'lost')) = (ended_at is not null)),
  add check ((ended_at is null) = (end_reason is null)),
  add check ((ended_at is null) = (due_at is not null));
-- For the same reason as with claims: only who asks by this id may use its index.
alter table sessions drop constraint sessions_workspace_id_session_id_key;
create unique index sessions_id on sessions (workspace_id, session_id) where session_id is not null;
create index sessions_due on sessions (due_at) where due_at is not null;
create index sessions_active on sessions (workspace_id) where declared and ended_at is null;
create index sessions_workers on sessions (workspace_id, session) where capacity is not null;

alter table limits
  add column max_active_sessions integer not null default 50 check (max_active_sessions >= 1),
  add column claim_history_retention_days integer not null default 90 check (claim_history_retention_days >= 1);

-- Two nodes may both believe there is room for the last session; the one that writes second starts over.
create function refuse_sessions_over_limit(workspace integer, most integer) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(47729, workspace);
  if (select count(*) from sessions s where s.workspace_id = workspace and s.declared and s.ended_at is null) > most then
    raise exception 'more sessions than this workspace may have' using errcode = 'BT001';
  end if;
end $$;

do $$
declare name text;
begin
  foreach name in array array['projects', 'tracks', 'track_claims'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy own_workspace on %I using (workspace_id = (select current_workspace()))', name);
  end loop;
end $$;

create policy upkeep_looks on sessions for select using ((select current_setting('baton.scope', true)) = 'upkeep');
create policy upkeep_looks on limits for select using ((select current_setting('baton.scope', true)) = 'upkeep');
create policy upkeep_forgets on claims for delete using ((select current_setting('baton.scope', true)) = 'upkeep');
-- Whoever opens a queue by the name of its workspace sees the rows of that name, to learn their numbers.
create policy presented_name on workspaces for select
  using (name = nullif(current_setting('baton.workspace_name', true), ''));

alter table track_claims set (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
