-- outside a transaction
-- What waits for a person: questions, reviews, budget stops and dead letters, in one index. No table is rewritten, and none is
-- scanned while it is locked.

alter table task_details
  -- The last question of a holder, and its answer.
  add column if not exists question json,
  add column if not exists waits_kind text collate "C",
  add column if not exists waits_since timestamptz,
  add column if not exists waits_because text,
  drop constraint if exists task_details_waits,
  add constraint task_details_waits check (
    num_nulls(waits_kind, waits_since) in (0, 2) and (waits_kind is not null or waits_because is null)
    and (waits_kind is null or waits_kind in ('question', 'review', 'budget', 'dead_letter'))) not valid;
alter table task_details validate constraint task_details_waits;

-- Those that wait already. Row by workspace, as the row policies demand; a semicolon at the end of a line would end the statement.
do '
declare waiting record; begin
  perform set_config(''baton.scope'', ''upkeep'', true)
; for waiting in select t.workspace_id, array_agg(t.id) as ids from tasks t
      where t.state in (''awaiting_human'', ''budget_exceeded'', ''failed'') and t.archived_at is null and t.purpose = ''work''
      group by t.workspace_id loop
    perform set_config(''baton.workspace_id'', waiting.workspace_id::text, true)
;   update task_details d set waits_since = coalesce(t.completed_at, t.updated_at), waits_because = d.error,
        waits_kind = case t.state when ''failed'' then ''dead_letter'' when ''awaiting_human'' then ''review'' else ''budget'' end
      from tasks t where t.workspace_id = waiting.workspace_id and t.id = any (waiting.ids) and d.workspace_id = t.workspace_id
        and d.task_id = t.id and d.waits_kind is null and (t.state <> ''failed'' or d.exhausted is not null)
; end loop
; perform set_config(''baton.scope'', '''', true), set_config(''baton.workspace_id'', '''', true)
; end';

create index concurrently if not exists task_details_waiting on task_details (workspace_id, waits_kind, waits_since, task_id)
  where waits_kind is not null;
-- Missions whose plan waits for a person, or that have spent their budget.
create index concurrently if not exists missions_waiting on missions (workspace_id, mission_id)
  where completed_at is null and (phase = 'awaiting_approval' or approved_version < plan_version or 'budget' = any (closed_by));
create index concurrently if not exists agents_in_error on agents (workspace_id, slug) where state = 'error';
