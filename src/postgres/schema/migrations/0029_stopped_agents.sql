-- Whether the runs of a paused or terminated agent are stopped instead of finished.
alter table agents add column stops_runs boolean not null default false;
