-- outside a transaction
-- What queries read of a task's column watch is of the type that they read it as. No table is scanned while it is locked.

alter table tasks
  drop constraint if exists tasks_watch,
  add constraint tasks_watch check (watch is null or (
    json_typeof(watch) = 'object'
    and coalesce(json_typeof(watch -> 'suspectedAt'), 'number') = 'number'
    and coalesce(json_typeof(watch -> 'preferredUntil'), 'number') = 'number'
    and coalesce(json_typeof(watch -> 'childDepth'), 'number') = 'number'
    and coalesce(json_typeof(watch -> 'isOffered'), 'boolean') = 'boolean'
    and coalesce(json_typeof(watch -> 'pausedByMission'), 'boolean') = 'boolean'
    and coalesce(json_typeof(watch -> 'resultCommit'), 'string') = 'string')) not valid;

alter table tasks validate constraint tasks_watch;
