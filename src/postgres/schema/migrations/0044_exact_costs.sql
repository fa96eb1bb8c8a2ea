-- outside a transaction
-- Costs with twelve decimals: a token may cost less than a nano-dollar. Without a scale no table is rewritten, and with the checks
-- added again unvalidated none is scanned while it is locked.

alter table runs
  drop constraint if exists runs_cost_usd_check,
  alter column cost_usd type numeric,
  alter column booked_usd type numeric,
  add constraint runs_cost_usd_check check (cost_usd >= 0) not valid;

alter table runs validate constraint runs_cost_usd_check;

alter table agent_runtime_state
  drop constraint if exists agent_runtime_state_total_cost_usd_check,
  alter column total_cost_usd type numeric,
  add constraint agent_runtime_state_total_cost_usd_check check (total_cost_usd >= 0) not valid;

alter table agent_runtime_state validate constraint agent_runtime_state_total_cost_usd_check;

alter table mission_counters
  drop constraint if exists mission_counters_usd_check,
  alter column usd type numeric,
  add constraint mission_counters_usd_check check (usd >= 0) not valid;

alter table mission_counters validate constraint mission_counters_usd_check;

alter table mission_plans
  drop constraint if exists mission_plans_estimated_usd_check,
  alter column estimated_usd type numeric,
  add constraint mission_plans_estimated_usd_check check (estimated_usd >= 0) not valid;

alter table mission_plans validate constraint mission_plans_estimated_usd_check;
