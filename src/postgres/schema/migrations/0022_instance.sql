-- A random id of this database. Whoever follows the log learns from it that a server now has another database behind the same
-- address, whose numbers mean other events.
create table instance (
  workspace_id integer not null default 0 primary key check (workspace_id = 0),
  instance_id uuid not null default gen_random_uuid()
);
-- Before the policies: they apply to the owner, too.
insert into instance default values;
alter table instance enable row level security;
alter table instance force row level security;
create policy cluster_scope on instance
  using ((select current_setting('baton.scope', true)) = 'cluster');
