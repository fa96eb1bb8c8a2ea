-- outside a transaction
-- Readiness by counting: a task keeps how many of its upstream tasks are awaited and how the others ended, a dependency what
-- it contributed. No table is rewritten, and none is scanned while it is locked.

alter table tasks add column if not exists upstream json;

-- Dependencies of earlier versions hand nothing on, and contributed nothing yet: their tasks are counted anew.
alter table task_dependencies
  add column if not exists kind text not null default 'order',
  add column if not exists counted_version integer not null default 0,
  add column if not exists outcome text,
  drop constraint if exists task_dependencies_trigger_rule_check,
  drop constraint if exists task_dependencies_trigger_rule,
  drop constraint if exists task_dependencies_kind,
  drop constraint if exists task_dependencies_outcome,
  add constraint task_dependencies_trigger_rule
    check (trigger_rule in ('all_success', 'all_done', 'none_failed', 'always', 'one_success')) not valid,
  add constraint task_dependencies_kind check (kind in ('data', 'order')) not valid,
  -- What has ended was seen at a version.
  add constraint task_dependencies_outcome check (
    counted_version >= 0 and (outcome is null or
      (outcome in ('completed', 'failed', 'cancelled', 'skipped') and counted_version > 0))) not valid;

alter table task_dependencies validate constraint task_dependencies_trigger_rule;
alter table task_dependencies validate constraint task_dependencies_kind;
alter table task_dependencies validate constraint task_dependencies_outcome;

-- Each dependency is updated at least once, in place where the page has room.
alter table task_dependencies set (fillfactor = 75,
  autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
