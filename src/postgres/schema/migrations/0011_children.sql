-- outside a transaction
-- Tasks that agents add to their missions while they work. No table is rewritten, and none is scanned while it is locked.

alter table mission_counters
  -- All of them, whatever has become of them: changed with the task, and read under the lock of the mission.
  add column if not exists children integer not null default 0,
  drop constraint if exists mission_counters_children,
  add constraint mission_counters_children check (children between 0 and 100) not valid;
alter table mission_counters validate constraint mission_counters_children;
