import { NAME, ofTask, ofWorkspace, oneOf, STATES, TABLE, UUID } from './column-types.ts'

/**
 * The tables, for both MySQL and MariaDB. `workspace_id` leads every key.
 *
 * Names and keys are VARBINARY with UTF-8 in it, compared byte by byte: the collations that both servers share fold case or
 * ignore trailing spaces. Text is for columns that are never compared. Times are milliseconds.
 *
 * InnoDB has no partial indexes. What Postgres keeps in one is a narrow table here (`baton_waiting`, `baton_held`,
 * `baton_track_holders`, `baton_lost_claims`): only rows that are waiting, held or lost cost anything, and the wide history has no
 * index entries for rows that are not.
 *
 * The columns of `baton_tasks` that claims change have a fixed length (0 stands for "no time"; session and agent are read
 * from the claim): InnoDB updates such a row in place, at half the cost on MariaDB and a third on MySQL.
 */
const WORKSPACES = [
  `create table if not exists baton_workspaces (
    workspace_id int not null auto_increment primary key,
    name ${NAME} not null,
    created_at bigint not null,
    min_lease_seconds int not null,
    max_lease_seconds int not null,
    max_concurrent_claims int not null,
    max_active_sessions int not null,
    max_generations_per_task int not null,
    max_result_bytes int not null,
    late_results tinyint not null,
    queue_order ${oneOf(`'priority', 'shortest_first'`)} not null default 'priority',
    claim_history_retention_days int not null,
    assign_timeout_seconds int not null default 120,
    stall_timeout_seconds int,
    verify_timeout_seconds int not null default 180,
    hang_grace_seconds int not null default 1800,
    hang_abort_seconds int not null default 600,
    unique key workspace_name (name),
    check (name <> ''),
    check (min_lease_seconds between 1 and max_lease_seconds)
  ) ${TABLE}`,

  // One row per workspace, updated at the end of each writing transaction. The row lock makes commit order equal seq order,
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

  // The last number that was assigned, in a transaction of its own: an assigned number that is not used is lost, which does
  // no harm.
  `create table if not exists baton_sequences (
    name varbinary(40) not null primary key,
    last_number bigint not null
  ) ${TABLE}`,
  `insert into baton_sequences (name, last_number) values ('task', 0) on duplicate key update name = name`,

  // First replies, by idempotency key.
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
]

const PROJECTS_AND_SESSIONS = [
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
]

const TASKS = [
  // Only what the claim path touches.
  `create table if not exists baton_tasks (
    workspace_id int not null,
    id bigint not null,
    uuid ${UUID} not null,
    task_key varbinary(200),
    project_id int not null,
    track_queue varbinary(40) not null,
    parent_id bigint,
    state ${STATES} not null,
    paused_from ${STATES},
    priority smallint not null,
    generation int not null,
    epoch int not null,
    version int not null,
    attempt int not null,
    max_retries smallint not null,
    merge_as ${oneOf(`'none', 'object', 'task'`)} not null,
    continuations int not null,
    max_continuations smallint not null default 10,
    queue_rank bigint not null,
    due_at bigint,
    blocked tinyint,
    awaited tinyint not null,
    only_agent ${NAME},
    capabilities text,
    expires_at bigint,
    review ${oneOf(`'none', 'human', 'verifier'`)} not null,
    claim_state ${oneOf(`'none', 'active', 'released', 'expired', 'superseded', 'error'`)} not null,
    lease_ms bigint not null,
    min_lease_ms bigint not null,
    lease_expires_at bigint not null,
    watch text,
    result_hash varbinary(128),
    created_at bigint not null,
    updated_at bigint not null,
    started_at bigint not null,
    completed_at bigint not null,
    archived_at bigint not null,
    primary key (workspace_id, id),
    unique key task_key (workspace_id, project_id, task_key),
    key task_due (due_at),
    -- Due tasks of one workspace, however many are due in others.
    key task_due_in_workspace (workspace_id, due_at),
    key task_blocked (blocked),
    check (priority between 1 and 10),
    check (generation >= 0 and epoch >= 1 and attempt >= 0),
    check (blocked = 1),
    check ((state in ('completed', 'failed', 'cancelled', 'skipped')) = (completed_at <> 0)),
    check ((state in ('assigned', 'running', 'continuing')) = (claim_state = 'active')),
    check ((generation = 0) = (claim_state = 'none')),
    check (state <> 'completed' or result_hash is not null),
    check ((state = 'paused') = (paused_from is not null)),
    check (state not in ('awaiting_retry', 'verifying') or due_at is not null)
  ) ${TABLE}`,

  // What people and prompts read.
  `create table if not exists baton_task_details (
    workspace_id int not null,
    task_id bigint not null,
    title text not null,
    task_type text not null,
    description mediumtext,
    input longtext,
    tags mediumtext not null,
    metadata longtext,
    user_id ${NAME},
    created_by ${NAME},
    project ${NAME},
    parent ${UUID},
    progress_percent double,
    progress_step mediumtext,
    checkpoint longtext,
    error mediumtext,
    failure_class varbinary(40),
    exhausted varbinary(40),
    is_dead_letter tinyint,
    primary key (workspace_id, task_id),
    key task_of_user (workspace_id, user_id, task_id),
    key task_dead_letter (workspace_id, is_dead_letter, task_id),
    check (is_dead_letter = 1),
    ${ofTask('task_id')}
  ) ${TABLE}`,

  `create table if not exists baton_task_dependencies (
    workspace_id int not null,
    task_id bigint not null,
    depends_on bigint not null,
    depends_on_uuid ${UUID} not null,
    trigger_rule ${oneOf(`'all_success', 'all_done', 'none_failed', 'always'`)} not null,
    added_at bigint not null,
    place int not null,
    primary key (workspace_id, task_id, depends_on),
    key task_downstream (workspace_id, depends_on),
    check (task_id <> depends_on),
    ${ofTask('task_id')},
    ${ofTask('depends_on')}
  ) ${TABLE}`,

  // One row for each combination of project, track queue, capabilities and agent that tasks are reserved for. The queue
  // itself has only the small id. The signature is a SHA-256, as lists of capabilities can be long.
  `create table if not exists baton_queues (
    workspace_id int not null,
    queue_id int not null auto_increment,
    signature varbinary(32) not null,
    project_id int not null,
    track_queue varbinary(40) not null,
    capabilities text not null,
    only_agent ${NAME},
    made_at bigint not null,
    primary key (workspace_id, queue_id),
    unique key queue_number (queue_id),
    unique key queue_signature (workspace_id, signature),
    key queue_of_agent (workspace_id, only_agent),
    ${ofWorkspace}
  ) ${TABLE}`,

  // The queue: all queued tasks and no others, in the order in which they are claimed.
  `create table if not exists baton_waiting (
    workspace_id int not null,
    queue_id int not null,
    queue_rank bigint not null,
    task_id bigint not null,
    primary key (workspace_id, queue_id, queue_rank, task_id),
    foreign key (workspace_id, queue_id) references baton_queues (workspace_id, queue_id)
  ) ${TABLE}`,
]

const CLAIMS_AND_RESULTS = [
  // One row per generation: who held the task, when, and how it ended. Session and agent are names, not references: history
  // outlives the rows it refers to.
  `create table if not exists baton_claims (
    workspace_id int not null,
    task_id bigint not null,
    generation int not null,
    session ${NAME} not null,
    agent ${NAME} not null,
    state ${oneOf(`'active', 'released', 'expired', 'superseded', 'error'`)} not null,
    acquired_at bigint not null,
    ended_at bigint not null,
    end_reason varbinary(40),
    primary key (workspace_id, task_id, generation),
    check (generation >= 1),
    check ((state = 'active') = (ended_at = 0)),
    check ((state = 'active') = (end_reason is null))
  ) ${TABLE}`,

  // The active claims: the key allows one per task. check_at is when upkeep should check whether the lease has expired.
  // Renewals leave it alone; upkeep moves it forward.
  `create table if not exists baton_held (
    workspace_id int not null,
    task_id bigint not null,
    generation int not null,
    session ${NAME} not null,
    check_at bigint not null,
    primary key (workspace_id, task_id),
    key held_by_session (workspace_id, session),
    key held_until (check_at)
  ) ${TABLE}`,

  // Active claims of tasks on a track.
  `create table if not exists baton_track_holders (
    workspace_id int not null,
    project_id int not null,
    track varbinary(40) not null,
    task_id bigint not null,
    agent ${NAME} not null,
    primary key (workspace_id, project_id, track, task_id)
  ) ${TABLE}`,

  // Claims that expired or were superseded. The holder gets them when it is next seen.
  `create table if not exists baton_lost_claims (
    workspace_id int not null,
    session ${NAME} not null,
    ended_at bigint not null,
    task_id bigint not null,
    generation int not null,
    reason varbinary(40) not null,
    primary key (workspace_id, session, ended_at, task_id, generation),
    key lost_at (ended_at)
  ) ${TABLE}`,

  // The same work by the same holder is one row, however often a zombie sends it. accepted is null while the result waits
  // for a verdict. Each epoch has at most one result that is not rejected.
  `create table if not exists baton_results (
    workspace_id int not null,
    task_id bigint not null,
    generation int not null,
    session ${NAME} not null,
    hash varbinary(128) not null,
    epoch int not null,
    agent ${NAME},
    accepted tinyint,
    rejection varbinary(80),
    ref text not null,
    data longtext not null,
    summary mediumtext,
    submitted_at bigint not null,
    standing_epoch int as (if(accepted = 0, null, epoch)) stored,
    primary key (workspace_id, task_id, generation, session, hash),
    unique key result_one_per_epoch (workspace_id, task_id, standing_epoch),
    check (generation >= 1 and epoch >= 1),
    check (coalesce(accepted = 0, 0) = (rejection is not null)),
    ${ofTask('task_id')}
  ) ${TABLE}`,
]

const EVENTS = [
  // No foreign key to tasks: the log outlives the rows it refers to.
  `create table if not exists baton_events (
    workspace_id int not null,
    seq bigint not null,
    type varbinary(60) not null,
    task_id bigint,
    generation int,
    from_state varbinary(20),
    to_state varbinary(20),
    actor varbinary(1000) not null,
    payload longtext not null,
    at bigint not null,
    primary key (workspace_id, seq),
    check (seq >= 1)
  ) ${TABLE}`,
]

export const TABLES = [...WORKSPACES, ...PROJECTS_AND_SESSIONS, ...TASKS, ...CLAIMS_AND_RESULTS, ...EVENTS]
