-- outside a transaction
-- Plans that were rejected, and the names of tasks that agents add. No table is rewritten, and none is scanned while it is locked.

alter table missions
  -- They stay readable, and a mission that runs continues with the approved one.
  add column if not exists rejected_versions integer[] not null default '{}',
  drop constraint if exists missions_rejected,
  add constraint missions_rejected check (approved_version is null or not approved_version = any (rejected_versions)) not valid;
alter table missions validate constraint missions_rejected;

-- Replies that are forgotten after a day. The names under which agents added tasks are kept as long as their missions, and are
-- not among them: so forgetting does not get slower with their number.
create index concurrently if not exists idempotency_keys_forgotten on idempotency_keys (created_at)
  where key not like 'task child-of:%';
drop index concurrently if exists idempotency_keys_age;
