-- The commit of the work that was submitted with a result. Null: the result was not made in a git worktree of Baton.
alter table attempts add column commit text;
alter table rejected_results add column commit text;
