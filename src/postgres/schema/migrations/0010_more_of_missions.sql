-- outside a transaction
-- Retries of missions, and missions that wait for others. No table is rewritten, and none is scanned while it is locked.

alter table missions
  -- A retry that upkeep has not finished: what had failed by then is to be done again.
  add column if not exists retry_at timestamptz,
  drop constraint if exists missions_retry,
  add constraint missions_retry check (retry_at is null or phase = 'running') not valid;
alter table missions validate constraint missions_retry;

-- It begins when this one has ended.
alter table missions
  add column if not exists after_mission bigint,
  drop constraint if exists missions_after,
  add constraint missions_after foreign key (workspace_id, after_mission) references missions (workspace_id, mission_id) not valid;
alter table missions validate constraint missions_after;
create index concurrently if not exists missions_after_others on missions (workspace_id, after_mission)
  where after_mission is not null and phase = 'pending';
