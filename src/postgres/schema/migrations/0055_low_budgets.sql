-- outside a transaction
-- Budgets that people are told about when little is left of them. Those of tasks are asked about with their task.
create index concurrently if not exists budgets_of_many on budgets (workspace_id) where scope <> 'task';
