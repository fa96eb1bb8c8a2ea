-- outside a transaction
-- Plans that a person rejected: they stay readable, and a mission that runs continues with the approved one.

alter table missions
  add column if not exists rejected_versions integer[] not null default '{}',
  drop constraint if exists missions_rejected,
  add constraint missions_rejected check (approved_version is null or not approved_version = any (rejected_versions)) not valid;
alter table missions validate constraint missions_rejected;
