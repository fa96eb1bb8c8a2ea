-- The types of work that an agent takes; none: any.
alter table agents
  add column task_types text[] not null default '{}';
