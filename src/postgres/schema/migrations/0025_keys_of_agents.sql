-- outside a transaction
-- Keys bound to one agent. No table is rewritten, and none is scanned while it is locked.

-- The slug of the only agent that the key may act as. Not a foreign key: the agent may be deleted, and a key that acted for it must not
-- become one that acts for any.
alter table api_keys
  add column if not exists agent text collate "C",
  drop constraint if exists api_keys_agent,
  add constraint api_keys_agent check (agent <> '' and agent <> 'baton') not valid;
alter table api_keys validate constraint api_keys_agent;
