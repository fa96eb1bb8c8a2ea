import { NAME, ofTask, ofWorkspace, oneOf, STATES, TABLE, UUID } from './column-types.ts'

/** Tasks, and what becomes of them. */
export const TABLES_OF_TASKS = [
  // What the claim path touches, and nothing else.
  `create table if not exists baton_tasks (
    workspace_id int not null,
    id bigint not null,
    uuid ${UUID} not null,
    task_key varbinary(200),
    project_id int not null,
    line varbinary(40) not null,
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
    queue_rank bigint not null,
    due_at bigint,
    blocked tinyint,
    only_agent ${NAME},
    capabilities text,
    expires_at bigint,
    review ${oneOf(`'none', 'human', 'verifier'`)} not null,
    claim_state ${oneOf(`'none', 'active', 'released', 'expired', 'superseded', 'error'`)} not null,
    lease_ms bigint not null,
    min_lease_ms bigint not null,
    lease_expires_at bigint not null,
    result_hash varbinary(128),
    created_at bigint not null,
    updated_at bigint not null,
    started_at bigint not null,
    completed_at bigint not null,
    archived_at bigint not null,
    primary key (workspace_id, id),
    unique key task_key (workspace_id, project_id, task_key),
    key task_due (due_at),
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
    user_id ${NAME},
    project ${NAME},
    parent ${UUID},
    error mediumtext,
    failure_class varbinary(40),
    exhausted varbinary(40),
    is_dead_letter tinyint,
    progress_percent double,
    progress_step mediumtext,
    checkpoint longtext,
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

  // Who waits in the same place: one row for each project, line, list of capabilities and agent that tasks are kept for.
  // Small numbers stand for all that in the queue itself. The signature is a SHA-256, as lists can be long.
  `create table if not exists baton_queues (
    workspace_id int not null,
    queue_id int not null auto_increment,
    signature varbinary(32) not null,
    project_id int not null,
    line varbinary(40) not null,
    capabilities text not null,
    only_agent ${NAME},
    made_at bigint not null,
    primary key (workspace_id, queue_id),
    unique key queue_number (queue_id),
    unique key queue_signature (workspace_id, signature),
    key queue_of_agent (workspace_id, only_agent),
    ${ofWorkspace}
  ) ${TABLE}`,

  // The queue: the tasks that are queued, and only those, in the order in which they are handed out.
  `create table if not exists baton_waiting (
    workspace_id int not null,
    queue_id int not null,
    queue_rank bigint not null,
    task_id bigint not null,
    primary key (workspace_id, queue_id, queue_rank, task_id),
    foreign key (workspace_id, queue_id) references baton_queues (workspace_id, queue_id)
  ) ${TABLE}`,

  // One row a generation: who held the task, when, and how it ended. Session and agent are names, not references:
  // history outlives the rows of those it tells about.
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

  // The active claims: its key lets a task have one. check_at is when upkeep should look whether the lease is over;
  // renewals leave it alone, and upkeep moves it on.
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

  // Active claims on tasks that are on a track.
  `create table if not exists baton_track_holders (
    workspace_id int not null,
    project_id int not null,
    track varbinary(40) not null,
    task_id bigint not null,
    agent ${NAME} not null,
    primary key (workspace_id, project_id, track, task_id)
  ) ${TABLE}`,

  // Claims that ended against the will of their holder, who is told when it is seen again.
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

  // The same work by the same holder is one row, however often a zombie sends it. accepted is null while a verdict is
  // awaited; of what is not rejected there is one an epoch.
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
    unique key result_one_an_epoch (workspace_id, task_id, standing_epoch),
    check (generation >= 1 and epoch >= 1),
    check (coalesce(accepted = 0, 0) = (rejection is not null)),
    ${ofTask('task_id')}
  ) ${TABLE}`,

  // The log. No foreign key to tasks: it outlives what it tells about.
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
