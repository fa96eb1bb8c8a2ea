-- What a mission had spent when its last cost_snapshot was written: {"usd", "tokens"}.
alter table missions add column snapshot json;
