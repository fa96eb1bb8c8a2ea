-- outside a transaction
-- Tasks that a budget stopped: upkeep looks for those that may continue.
create index concurrently if not exists tasks_over_budget on tasks (workspace_id) where state = 'budget_exceeded';
