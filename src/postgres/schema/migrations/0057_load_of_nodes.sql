-- What a node can do and how busy it is, with its heartbeats: how many runs it executes at most, the share of a core that its process
-- uses, and how late its event loop is. Null: it is of a version that does not say.
alter table nodes
  add column most_runs integer check (most_runs >= 0),
  add column cpu double precision check (cpu >= 0),
  add column lag_ms double precision check (lag_ms >= 0);
