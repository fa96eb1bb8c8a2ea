-- How many runs of a mission have ended, and of how many of them, and of those of an agent, the cost is unknown: without that, an
-- unknown cost would look like none. Without checks: they would scan the tables under an exclusive lock.
alter table runs
  -- The totals of its mission have counted it.
  add column is_booked boolean not null default false;

alter table mission_counters
  add column runs integer not null default 0,
  add column unknown_runs integer not null default 0;

alter table agent_runtime_state
  add column unknown_runs bigint not null default 0;
