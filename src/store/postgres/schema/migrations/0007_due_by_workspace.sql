-- What is due in one workspace, however much is due in others. (The first condition keeps this index from those who ask
-- across workspaces, who go by the hour alone.)
create index tasks_due_in_workspace on tasks (workspace_id, due_at) where workspace_id is not null and due_at is not null;
