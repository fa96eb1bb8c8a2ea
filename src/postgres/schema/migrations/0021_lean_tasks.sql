-- Pages of tasks are filled to 45 percent, not to 60. A task has three versions until it is completed, and a version on another
-- page is logged whole. And where the last versions leave no room, no new task is put on an old page, which after a checkpoint would
-- be logged whole as well.
-- From this version on, a task without a value in state_since is in its state since its last change.
alter table tasks set (fillfactor = 45);
