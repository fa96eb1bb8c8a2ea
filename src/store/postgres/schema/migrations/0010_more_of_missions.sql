-- What missions gain after their first version: retries. No table of tasks is touched.

alter table missions
  -- A retry that upkeep has not finished: what had failed by then is to be done again.
  add column retry_at timestamptz,
  add constraint missions_retry check (retry_at is null or phase = 'running');
