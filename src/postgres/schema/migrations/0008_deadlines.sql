-- outside a transaction
-- Deadlines of tasks. No table is rewritten, and none is scanned while it is locked.

-- A task in the queue is due at its expiry; one with deadlines of its own, or in a mission that was closed, at another time.
alter table tasks
  drop constraint if exists tasks_check10,
  drop constraint if exists tasks_due_in_queue,
  add constraint tasks_due_in_queue
    check (state <> 'queued' or due_at is not distinct from expires_at or (watch is not null and num_nulls(due_at) = 0)) not valid;

-- How long the gate of a mission was closed: the deadlines of its tasks do not count that time.
alter table missions
  add column if not exists closed_ms bigint not null default 0,
  add column if not exists closed_at timestamptz,
  drop constraint if exists missions_closed_ms,
  add constraint missions_closed_ms check (closed_ms >= 0) not valid;

alter table tasks validate constraint tasks_due_in_queue;
alter table missions validate constraint missions_closed_ms;
