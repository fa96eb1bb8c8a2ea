-- outside a transaction
-- Reports of a workspace, by when they were written.
create index concurrently if not exists reports_by_time on reports (workspace_id, created_at, report_id);
