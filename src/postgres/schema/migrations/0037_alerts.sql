-- outside a transaction
-- Tasks that nobody takes are told to people by upkeep, as an event, and kept with what else waits for them. No table is
-- rewritten, and none is scanned while it is locked.

alter table task_details
  drop constraint if exists task_details_waits,
  add constraint task_details_waits check (
    num_nulls(waits_kind, waits_since) in (0, 2) and (waits_kind is not null or waits_because is null)
    and (waits_kind is null or waits_kind in ('question', 'review', 'budget', 'dead_letter', 'alert'))) not valid;
alter table task_details validate constraint task_details_waits;

-- When time alone makes the next task one that nobody takes.
create table if not exists alert_checks (
  workspace_id integer primary key references workspaces (workspace_id),
  due_at timestamptz not null
);

alter table alert_checks enable row level security;
alter table alert_checks force row level security;
drop policy if exists own_workspace on alert_checks;
create policy own_workspace on alert_checks using (workspace_id = (select current_workspace()));
drop policy if exists upkeep_reads on alert_checks;
create policy upkeep_reads on alert_checks for select
  using ((select current_setting('baton.scope', true)) = 'upkeep');
