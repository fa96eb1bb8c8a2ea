import { NAME, ofWorkspace, oneOf, TABLE, UUID } from './column-types.ts'

/** Workspaces, and what of them is not a task. */
export const TABLES_OF_WORKSPACES = [
  `create table if not exists baton_workspaces (
    workspace_id int not null auto_increment primary key,
    name ${NAME} not null,
    created_at bigint not null,
    min_lease_seconds int not null,
    max_lease_seconds int not null,
    max_concurrent_claims int not null,
    max_generations_per_task int not null,
    max_result_bytes int not null,
    max_active_sessions int not null,
    claim_history_retention_days int not null,
    late_results tinyint not null,
    unique key workspace_name (name),
    check (name <> ''),
    check (min_lease_seconds between 1 and max_lease_seconds)
  ) ${TABLE}`,

  // One row a workspace, changed at the end of each writing transaction. The row lock makes commit order equal seq order,
  // so a reader that has seen event n has missed nothing below n.
  `create table if not exists baton_counters (
    workspace_id int not null primary key,
    last_seq bigint not null default 0,
    active_claims int not null default 0,
    active_sessions int not null default 0,
    check (last_seq >= 0),
    check (active_claims >= 0),
    check (active_sessions >= 0),
    ${ofWorkspace}
  ) ${TABLE}`,

  // The last number given, in transactions of its own: a number that was given and not used is lost, and does no harm.
  `create table if not exists baton_sequences (
    name varbinary(40) not null primary key,
    last_number bigint not null
  ) ${TABLE}`,

  `create table if not exists baton_projects (
    workspace_id int not null,
    project_id int not null,
    slug ${NAME} not null,
    primary key (workspace_id, project_id),
    unique key project_slug (workspace_id, slug),
    check (project_id >= 1),
    ${ofWorkspace}
  ) ${TABLE}`,

  // How many agents a track may have; null: any number.
  `create table if not exists baton_tracks (
    workspace_id int not null,
    project_id int not null,
    track varbinary(40) not null,
    max_agents int,
    primary key (workspace_id, project_id, track),
    ${ofWorkspace}
  ) ${TABLE}`,

  `create table if not exists baton_sessions (
    workspace_id int not null,
    name ${NAME} not null,
    uuid ${UUID} not null,
    agent ${NAME},
    user_id ${NAME},
    project ${NAME},
    state ${oneOf(`'active', 'draining', 'ended', 'lost'`)} not null,
    declared tinyint not null,
    capacity int,
    capabilities text not null,
    silence_ms bigint not null,
    started_at bigint not null,
    last_seen_at bigint not null,
    due_at bigint,
    ended_at bigint,
    end_reason text,
    primary key (workspace_id, name),
    unique key session_uuid (workspace_id, uuid),
    key session_due (due_at),
    check (name <> ''),
    check ((state in ('ended', 'lost')) = (ended_at is not null)),
    check ((due_at is null) = (ended_at is not null)),
    ${ofWorkspace}
  ) ${TABLE}`,

  // First answers, by the idempotency key they were given under.
  `create table if not exists baton_replies (
    workspace_id int not null,
    idempotency_key varbinary(1000) not null,
    body_hash varbinary(128) not null,
    reply longtext not null,
    created_at bigint not null,
    primary key (workspace_id, idempotency_key),
    key reply_age (created_at),
    ${ofWorkspace}
  ) ${TABLE}`,

  `insert into baton_sequences (name, last_number) values ('task', 0) on duplicate key update name = name`,
]
