-- outside a transaction
-- Whether what a task or a mission cost is simulated money: asked for with each of them in a list.
create index concurrently if not exists usage_simulated_of_task on usage_sources (workspace_id, task_id) where is_simulated;
create index concurrently if not exists usage_simulated_of_mission on usage_sources (workspace_id, mission_id) where is_simulated;
