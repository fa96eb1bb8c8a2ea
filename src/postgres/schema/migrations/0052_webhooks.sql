-- Programs that are told of events. What must stay secret (the address with its tokens, the keys that sign) is in one column.
create table webhooks (
  workspace_id integer not null references workspaces,
  webhook_id uuid not null,
  name text not null check (name <> ''),
  shown_url text not null,
  events text[] collate "C" not null check (cardinality(events) > 0),
  format text not null check (format in ('baton', 'mosaic', 'slack', 'discord', 'ntfy')),
  state text collate "C" not null check (state in ('active', 'paused', 'disabled')),
  disabled_because text check (disabled_because in ('gone', 'failing')),
  secrets json not null check (json_typeof(secrets) = 'object'),
  version integer not null default 1 check (version >= 1),
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, webhook_id),
  check ((state = 'disabled') = (disabled_because is not null))
);

-- How far each of them is. The log is the outbox: all wanted events up to seq are delivered or are deliveries that wait below;
-- those after it up to told_seq are still to be sent.
create table webhook_progress (
  workspace_id integer not null,
  webhook_id uuid not null,
  seq bigint not null check (seq >= 0),
  told_seq bigint not null check (told_seq >= 0),
  -- A new one with each write of those who deliver: who has read an older one writes nothing.
  turn uuid not null,
  -- When there is something to send; null: nothing, or it is not active.
  next_at timestamptz,
  -- Nothing is sent until then.
  held_until timestamptz,
  -- How often in a row it was held because nothing arrived.
  holds integer not null default 0 check (holds >= 0),
  failing_since timestamptz,
  last_delivered_at timestamptz,
  primary key (workspace_id, webhook_id),
  foreign key (workspace_id, webhook_id) references webhooks on delete cascade
) with (fillfactor = 50,
  autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
create index webhooks_due on webhook_progress (next_at) where next_at is not null;

-- The last of each webhook, and all that have not arrived. The events themselves are in the log.
create table webhook_deliveries (
  workspace_id integer not null,
  webhook_id uuid not null,
  seq bigint not null check (seq >= 1),
  type text collate "C" not null,
  entity text collate "C" not null,
  -- What is sent in the order of its numbers: the entity. One that a person sends again has no place in that order.
  lane text collate "C" not null,
  state text collate "C" not null check (state in ('delivered', 'retrying', 'waiting', 'failed')),
  attempts integer not null check (attempts >= 0),
  first_at timestamptz,
  last_at timestamptz,
  next_at timestamptz,
  duration_ms integer,
  http_status integer,
  answer text,
  error text,
  primary key (workspace_id, webhook_id, seq),
  foreign key (workspace_id, webhook_id) references webhooks on delete cascade,
  check ((state = 'retrying') = (next_at is not null)),
  check ((attempts = 0) = (last_at is null) and (first_at is null) = (last_at is null)),
  check (state not in ('delivered', 'failed') or attempts > 0)
) with (fillfactor = 80,
  autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create index webhook_deliveries_due on webhook_deliveries (workspace_id, webhook_id, next_at) where state = 'retrying';
create index webhook_deliveries_in_lanes on webhook_deliveries (workspace_id, webhook_id, lane, seq) where state in ('retrying', 'waiting');
create index webhook_deliveries_failed on webhook_deliveries (workspace_id, webhook_id, seq) where state = 'failed';
create index webhook_deliveries_delivered on webhook_deliveries (workspace_id, webhook_id, seq) where state = 'delivered';

do $$
declare name text;
begin
  foreach name in array array['webhooks', 'webhook_progress', 'webhook_deliveries'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy own_workspace on %I using (workspace_id = (select current_workspace()))', name);
    execute format('create policy upkeep_reads on %I for select using ((select current_setting(''baton.scope'', true)) = ''upkeep'')', name);
  end loop;
end $$;
