-- outside a transaction
-- Simulated money, which sums leave out, and claims of agents that Baton does not run: both are few, or asked for by agent.
create index concurrently if not exists usage_simulated on usage_sources (workspace_id, source_id, generation) where is_simulated;
create index concurrently if not exists usage_of_claims on usage_sources (workspace_id, agent) where generation > 0;
