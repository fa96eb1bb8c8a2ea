-- outside a transaction
-- Retries of missions. No table is rewritten, and none is scanned while it is locked.

alter table missions
  -- A retry that upkeep has not finished: what had failed by then is to be done again.
  add column if not exists retry_at timestamptz,
  drop constraint if exists missions_retry,
  add constraint missions_retry check (retry_at is null or phase = 'running') not valid;
alter table missions validate constraint missions_retry;
