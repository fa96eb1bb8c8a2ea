-- From a task to those that wait for it, answered by the index alone. Without task_id in it, a database that knows of a task
-- that very many wait for would rather read the primary key from end to end: that one it need not follow to the table.
drop index task_dependencies_downstream;
create index task_dependencies_downstream on task_dependencies (workspace_id, depends_on, task_id);
