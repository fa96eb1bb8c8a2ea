-- outside a transaction
-- How long the branches of ended tasks stay, in days; 0: for ever.
alter table limits add column if not exists branch_retention_days integer not null default 30
  check (branch_retention_days >= 0);
-- The repositories in which agents have worked on tasks.
create index concurrently if not exists runs_by_repository
  on runs (workspace_id, ((folder #>> '{worktree,repository}') collate "C"))
  where folder #>> '{worktree,repository}' is not null and task_id is not null;
