-- outside a transaction
-- How many tasks each project has, for metrics: work that is not archived, and claims. Tasks without a project are what the counters of
-- the workspace have beside these. Changed in the transaction of the tasks, under the lock of the workspace's counter.
create table if not exists project_counters (
  workspace_id integer not null,
  project_id integer not null,
  pending integer not null default 0,
  completed integer not null default 0,
  active_claims integer not null default 0,
  primary key (workspace_id, project_id),
  foreign key (workspace_id, project_id) references projects
) with (fillfactor = 10,
  autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
alter table project_counters enable row level security;
alter table project_counters force row level security;
drop policy if exists own_workspace on project_counters;
create policy own_workspace on project_counters using (workspace_id = (select current_workspace()));
drop policy if exists upkeep_reads on project_counters;
create policy upkeep_reads on project_counters for select using ((select current_setting('baton.scope', true)) = 'upkeep');
-- Metrics name the projects of all workspaces.
drop policy if exists upkeep_reads on projects;
create policy upkeep_reads on projects for select using ((select current_setting('baton.scope', true)) = 'upkeep');

-- Counted under the lock of the counter, one workspace after the other. A semicolon at the end of a line would end the statement.
do '
declare counted record; begin
  perform set_config(''baton.scope'', ''upkeep'', true)
; for counted in select k.workspace_id from workspace_counters k loop
    perform set_config(''baton.scope'', '''', true), set_config(''baton.workspace_id'', counted.workspace_id::text, true)
;   perform from workspace_counters k where k.workspace_id = counted.workspace_id for update
;   insert into project_counters (workspace_id, project_id, pending, completed, active_claims)
      select t.workspace_id, t.project_id,
          count(*) filter (where t.state in (''pending'', ''queued'', ''awaiting_retry'') and t.purpose = ''work'' and t.archived_at is null),
          count(*) filter (where t.state = ''completed'' and t.purpose = ''work'' and t.archived_at is null),
          count(*) filter (where t.claim_state = ''active'' and t.session is not null)
        from tasks t where t.workspace_id = counted.workspace_id and t.project_id <> 0 group by 1, 2
      on conflict (workspace_id, project_id) do update
        set pending = excluded.pending, completed = excluded.completed, active_claims = excluded.active_claims
;   commit
; end loop
; perform set_config(''baton.scope'', '''', true), set_config(''baton.workspace_id'', '''', true)
; end';
