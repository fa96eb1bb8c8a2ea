-- How much of the usage of a run the totals of its mission have. It is added before the result of the run, which may end the
-- mission, and the rest when the run ends. Without checks: they would scan the table under an exclusive lock.
alter table runs
  add column booked_tokens bigint not null default 0,
  add column booked_usd numeric(24, 9);
