-- When the present settings of an agent were last tested, and which checks failed then. Without a rewrite: both have constant defaults.
alter table agents
  add column tested_at timestamptz,
  add column failed_checks text[] not null default '{}';
