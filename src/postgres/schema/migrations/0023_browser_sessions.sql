-- People in browsers: sessions, the links that begin them, and the tickets that open their sockets. Of every secret only the
-- SHA-256 is stored: each has 256 random bits, so a slow hash would add no protection.

-- A session acts with the rights of its key and is over when its key is.
create table browser_sessions (
  workspace_id integer not null,
  session_id uuid not null,
  key_id uuid not null,
  -- Of the cookie, which the browser sends by itself, and of the value that the page sends: neither is enough.
  cookie_hash bytea not null check (length(cookie_hash) = 32),
  page_hash bytea not null check (length(page_hash) = 32),
  user_agent text check (char_length(user_agent) between 1 and 300),
  created_at timestamptz not null default clock_timestamp(),
  -- Written at most once a minute.
  last_seen_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  primary key (workspace_id, session_id),
  unique (workspace_id, cookie_hash),
  foreign key (workspace_id, key_id) references api_keys (workspace_id, key_id),
  check (expires_at > created_at)
);
create index browser_sessions_key on browser_sessions (workspace_id, key_id);

-- A link begins one session.
create table sign_in_links (
  workspace_id integer not null,
  link_hash bytea not null unique check (length(link_hash) = 32),
  key_id uuid not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  used_at timestamptz,
  primary key (workspace_id, link_hash),
  foreign key (workspace_id, key_id) references api_keys (workspace_id, key_id)
);

-- A ticket opens one socket and is deleted by that. Lost in a crash of the database, it is asked for again.
create unlogged table socket_tickets (
  workspace_id integer not null,
  ticket_hash bytea not null unique check (length(ticket_hash) = 32),
  session_id uuid not null,
  expires_at timestamptz not null,
  primary key (workspace_id, ticket_hash),
  foreign key (workspace_id, session_id) references browser_sessions (workspace_id, session_id) on delete cascade
);
create index socket_tickets_session on socket_tickets (workspace_id, session_id);

-- When somebody last signed in with this key. Until somebody has, every start prints a link.
alter table api_keys add column signed_in_at timestamptz;

do $$
declare name text;
begin
  foreach name in array array['browser_sessions', 'sign_in_links', 'socket_tickets'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy own_workspace on %I using (workspace_id = (select current_workspace()))', name);
    -- Retention deletes what has expired.
    execute format('create policy upkeep_reads on %I for select
      using ((select current_setting(''baton.scope'', true)) = ''upkeep'')', name);
    execute format('create policy upkeep_deletes on %I for delete
      using ((select current_setting(''baton.scope'', true)) = ''upkeep'')', name);
  end loop;
end $$;

-- A link and a ticket are presented before the workspace is known: each shows its one row.
create policy presented_link on sign_in_links for select
  using (link_hash = decode(nullif(current_setting('baton.key_hash', true), ''), 'hex'));
create policy presented_ticket on socket_tickets for select
  using (ticket_hash = decode(nullif(current_setting('baton.key_hash', true), ''), 'hex'));
create policy used_ticket on socket_tickets for delete
  using (ticket_hash = decode(nullif(current_setting('baton.key_hash', true), ''), 'hex'));
