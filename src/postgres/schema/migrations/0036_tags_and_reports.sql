-- outside a transaction
-- Lists that were looked through: tasks by tag, and the reports of a workspace by when they were written. No table is rewritten, and none
-- is scanned while it is locked.

-- Tags of tasks. An index over the lists in task_details would not be used: the operator of lists is not leakproof, so the row policies
-- come first, and with them all rows. A task without tags has no row here.
create table if not exists task_tags (
  workspace_id integer not null,
  tag text collate "C" not null,
  task_id bigint not null,
  primary key (workspace_id, tag, task_id),
  foreign key (workspace_id, task_id) references tasks (workspace_id, id) on delete cascade
);
alter table task_tags enable row level security;
alter table task_tags force row level security;
drop policy if exists own_workspace on task_tags;
create policy own_workspace on task_tags using (workspace_id = (select current_workspace()));

-- With the rights of the owner: the server deletes no rows itself, and nodes of the version before write tags before it may write here.
-- A semicolon at the end of a line would end the statement.
create or replace function index_tags() returns trigger language plpgsql security definer set search_path = baton, pg_temp as '
begin
  if tg_op = ''UPDATE'' then
    delete from task_tags g where g.workspace_id = old.workspace_id and g.task_id = old.task_id and g.tag = any (old.tags)
; end if
; insert into task_tags (workspace_id, tag, task_id)
    select new.workspace_id, t.tag, new.task_id from unnest(new.tags) as t(tag) on conflict do nothing
; return null
; end';
-- Not called for tasks without tags, nor for changes of anything else.
create or replace trigger task_details_tagged after insert on task_details
  for each row when (new.tags <> '{}') execute function index_tags();
create or replace trigger task_details_retagged after update of tags on task_details
  for each row when (new.tags is distinct from old.tags) execute function index_tags();

-- Those that have tags already, one workspace after the other, as the row policies demand. A tag that is removed meanwhile may stay: lists
-- compare the tags themselves, too.
do '
declare had integer
; every integer[]
; begin
  perform set_config(''baton.scope'', ''upkeep'', true)
; select array_agg(k.workspace_id) into every from workspace_counters k
; foreach had in array coalesce(every, ''{}'') loop
    perform set_config(''baton.scope'', '''', true), set_config(''baton.workspace_id'', had::text, true)
;   insert into task_tags (workspace_id, tag, task_id)
      select d.workspace_id, t.tag, d.task_id from task_details d cross join unnest(d.tags) as t(tag)
       where d.workspace_id = had and d.tags <> ''{}'' on conflict do nothing
; end loop
; perform set_config(''baton.scope'', '''', true), set_config(''baton.workspace_id'', '''', true)
; end';

create index concurrently if not exists reports_by_time on reports (workspace_id, created_at, report_id);
