-- The version of a task after an event: what If-Match names, for whoever follows the log. Null in events of other things, and of
-- earlier versions.
alter table events add column task_version integer;
