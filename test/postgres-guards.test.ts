import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { taskStates } from '../src/core/states.ts'
import { superuser } from './support/nodes.ts'
import {
  CLUSTER_TABLES,
  type Seeded,
  type SeededDatabase,
  seededDatabase,
  workspaceTables,
} from './support/seed.ts'

let database: SeededDatabase
beforeAll(async () => {
  database = await seededDatabase()
})
afterAll(() => database.close())

/** Runs it as a superuser, whom no policy stops, and rolls it back. */
async function attempt(sql: string, values: unknown[] = []): Promise<pg.DatabaseError | null> {
  return superuser(database.url, async (client) => {
    await client.query('set search_path = baton')
    await client.query('begin')
    try {
      await client.query(sql, values)
      return null
    } catch (error) {
      return error as pg.DatabaseError
    } finally {
      await client.query('rollback')
    }
  })
}

interface Constraint {
  table: string
  name: string
  definition: string
}

const constraints = () =>
  superuser(database.url, async (client) => {
    const { rows } = await client.query<Constraint>(
      `select c.conrelid::regclass::text as table, c.conname as name, pg_get_constraintdef(c.oid) as definition
         from pg_constraint c where c.connamespace = 'baton'::regnamespace and c.contype in ('c', 'u', 'x')
       union all
       select i.indrelid::regclass::text, x.relname, pg_get_indexdef(i.indexrelid)
         from pg_index i join pg_class x on x.oid = i.indexrelid
        where x.relnamespace = 'baton'::regnamespace and i.indisunique
          and not exists (select 1 from pg_constraint c where c.conindid = i.indexrelid)`,
    )
    const plain = (text: string) => text.replaceAll('::text', '').replaceAll('baton.', '')
    return rows.map(({ table, name, definition }) => ({
      table: plain(table),
      name,
      definition: plain(definition),
    }))
  })

const mission =
  (set: string) =>
  ({ workspace }: Seeded) =>
    update('missions', set, workspace)
const planned =
  (set: string) =>
  ({ workspace }: Seeded) =>
    update('mission_plans', set, workspace)

const commented =
  (set: string) =>
  ({ workspace }: Seeded) =>
    `${update('comments', set, workspace)} and task_id is not null`

const reported =
  (set: string) =>
  ({ workspace }: Seeded) =>
    `${update('reports', set, workspace)} and version = 1`

const ofRoutine =
  (set: string) =>
  ({ workspace }: Seeded) =>
    update('routines', set, workspace)

/**
 * What the database refuses from everyone: the claim, the table, words of the constraint's definition, a way to break it.
 */
type Guard = [claim: string, table: string, words: string, breaking: (rows: Seeded) => string]
const GUARDS: Guard[] = [
  [
    'a workspace has a name',
    'workspaces',
    "name <> ''",
    ({ workspace }) => update('workspaces', "name = ''", workspace),
  ],
  [
    'a workspace has a UUID of its own',
    'workspaces',
    'UNIQUE (uuid)',
    () => `insert into workspaces (uuid, name) select uuid, 'twin' from workspaces limit 1`,
  ],
  [
    'the log never counts below zero',
    'workspace_counters',
    'last_seq >= 0',
    ({ workspace }) => update('workspace_counters', 'last_seq = -1', workspace),
  ],
  [
    'there are never fewer than no claims',
    'workspace_counters',
    'active_claims >= 0',
    ({ workspace }) => update('workspace_counters', 'active_claims = -1', workspace),
  ],
  [
    'the shortest lease is not longer than the longest',
    'limits',
    'min_lease_seconds <= max_lease_seconds',
    ({ workspace }) => update('limits', 'min_lease_seconds = max_lease_seconds + 1', workspace),
  ],
  [
    'a workspace may have a session',
    'limits',
    'max_active_sessions >= 1',
    ({ workspace }) => update('limits', 'max_active_sessions = 0', workspace),
  ],
  [
    'branches are kept for no negative number of days',
    'limits',
    'branch_retention_days >= 0',
    ({ workspace }) => update('limits', 'branch_retention_days = -1', workspace),
  ],
  [
    'claim history is kept for a day at least',
    'limits',
    'claim_history_retention_days >= 1',
    ({ workspace }) => update('limits', 'claim_history_retention_days = 0', workspace),
  ],
  [
    'an assigned task has time to be started',
    'limits',
    'assign_timeout_seconds >= 1',
    ({ workspace }) => update('limits', 'assign_timeout_seconds = 0', workspace),
  ],
  [
    'silence is not suspicious at once',
    'limits',
    'stall_timeout_seconds >= 1',
    ({ workspace }) => update('limits', 'stall_timeout_seconds = 0', workspace),
  ],
  [
    'a verdict has time',
    'limits',
    'verify_timeout_seconds >= 1',
    ({ workspace }) => update('limits', 'verify_timeout_seconds = 0', workspace),
  ],
  [
    'the grace of a suspected task is not negative',
    'limits',
    'hang_grace_seconds >= 0',
    ({ workspace }) => update('limits', 'hang_grace_seconds = -1', workspace),
  ],
  [
    'a suspected task has time to report progress',
    'limits',
    'hang_abort_seconds >= 1',
    ({ workspace }) => update('limits', 'hang_abort_seconds = 0', workspace),
  ],
  [
    'a queue has one of two orders',
    'limits',
    'queue_order = ANY',
    ({ workspace }) => update('limits', "queue_order = 'by chance'", workspace),
  ],
  [
    'a key has a name',
    'api_keys',
    "name <> ''",
    ({ workspace }) => update('api_keys', "name = ''", workspace),
  ],
  [
    'a key is stored as a SHA-256',
    'api_keys',
    'length(key_hash) = 32',
    ({ workspace }) => update('api_keys', `key_hash = 'bt_the_key_itself'`, workspace),
  ],
  [
    'a key has one of four roles',
    'api_keys',
    'role = ANY',
    ({ workspace }) => update('api_keys', `role = 'god'`, workspace),
  ],
  [
    'a key that creates workspaces belongs to an unrestricted owner',
    'api_keys',
    'NOT instance_admin',
    ({ workspace }) => update('api_keys', `instance_admin = true, role = 'admin'`, workspace),
  ],
  [
    'a key is bound to an agent with a name',
    'api_keys',
    "agent <> ''",
    ({ workspace }) => update('api_keys', "agent = ''", workspace),
  ],
  [
    'one key opens one workspace',
    'api_keys',
    'UNIQUE (key_hash)',
    ({ workspace }) =>
      `update api_keys set key_hash = (select key_hash from api_keys where workspace_id <> ${workspace} limit 1)
        where workspace_id = ${workspace}`,
  ],
  [
    'the cookie of a session is stored as a SHA-256',
    'browser_sessions',
    'length(cookie_hash) = 32',
    ({ workspace }) => update('browser_sessions', `cookie_hash = 'the cookie itself'`, workspace),
  ],
  [
    'the page value of a session is stored as a SHA-256',
    'browser_sessions',
    'length(page_hash) = 32',
    ({ workspace }) => update('browser_sessions', `page_hash = 'the value itself'`, workspace),
  ],
  [
    'the browser of a session is named in 300 characters at most',
    'browser_sessions',
    'char_length(user_agent)',
    ({ workspace }) => update('browser_sessions', `user_agent = repeat('x', 301)`, workspace),
  ],
  [
    'a session ends after it begins',
    'browser_sessions',
    'expires_at > created_at',
    ({ workspace }) => update('browser_sessions', 'expires_at = created_at', workspace),
  ],
  [
    'one cookie opens one session',
    'browser_sessions',
    'UNIQUE (workspace_id, cookie_hash)',
    ({ workspace }) =>
      `insert into browser_sessions (workspace_id, session_id, key_id, cookie_hash, page_hash, expires_at)
       select workspace_id, gen_random_uuid(), key_id, cookie_hash, page_hash, expires_at from browser_sessions
        where workspace_id = ${workspace} limit 1`,
  ],
  [
    'a link is stored as a SHA-256',
    'sign_in_links',
    'length(link_hash) = 32',
    ({ workspace }) => update('sign_in_links', `link_hash = 'the token itself'`, workspace),
  ],
  [
    'one link signs in to one workspace',
    'sign_in_links',
    'UNIQUE (link_hash)',
    ({ workspace }) =>
      `update sign_in_links set link_hash = (select link_hash from sign_in_links where workspace_id <> ${workspace} limit 1)
        where workspace_id = ${workspace}`,
  ],
  [
    'a ticket is stored as a SHA-256',
    'socket_tickets',
    'length(ticket_hash) = 32',
    ({ workspace }) => update('socket_tickets', `ticket_hash = 'the ticket itself'`, workspace),
  ],
  [
    'one ticket opens sockets of one workspace',
    'socket_tickets',
    'UNIQUE (ticket_hash)',
    ({ workspace }) =>
      `update socket_tickets set ticket_hash = (select ticket_hash from socket_tickets where workspace_id <> ${workspace} limit 1)
        where workspace_id = ${workspace}`,
  ],
  [
    'an agent has a slug',
    'agents',
    "slug <> ''",
    ({ workspace }) => update('agents', "slug = ''", workspace),
  ],
  [
    'a slug names one agent',
    'agents',
    'UNIQUE (workspace_id, slug)',
    ({ workspace }) =>
      `insert into agents (workspace_id, agent_id, slug, name) values (${workspace}, gen_random_uuid(), 'alpha', 'twin')`,
  ],
  [
    'an agent has an adapter',
    'agents',
    "adapter_type <> ''",
    ({ workspace }) => update('agents', "adapter_type = ''", workspace),
  ],
  [
    'an agent may hold a task',
    'agents',
    'max_concurrent_tasks >= 1',
    ({ workspace }) => update('agents', 'max_concurrent_tasks = 0', workspace),
  ],
  [
    'an agent has time between two heartbeats',
    'agents',
    'heartbeat_ms > 0',
    ({ workspace }) => update('agents', 'heartbeat_ms = 0', workspace),
  ],
  [
    'an agent may be silent for a while',
    'agents',
    'stale_ms > 0',
    ({ workspace }) => update('agents', 'stale_ms = 0', workspace),
  ],
  [
    'an agent may be assigned a task at a time',
    'agents',
    'batch_size >= 1',
    ({ workspace }) => update('agents', 'batch_size = 0', workspace),
  ],
  [
    'an agent is in a state of the table',
    'agents',
    "ARRAY['idle', 'paused'",
    ({ workspace }) => update('agents', "state = 'resting'", workspace),
  ],
  [
    'an agent that is terminated has left',
    'agents',
    'NOT (leaving',
    ({ workspace }) => update('agents', "leaving = true, state = 'terminated'", workspace),
  ],
  [
    'an agent is of the roster or a contractor',
    'agents',
    'kind = ANY',
    ({ workspace }) => update('agents', "kind = 'guest'", workspace),
  ],
  [
    'a contractor has a template and a mission, and nobody else has',
    'agents',
    'num_nulls(template, mission_id, mission)',
    ({ workspace }) => update('agents', "template = 'dev'", workspace),
  ],
  [
    'the slug of a contractor says that it is one',
    'agents',
    'slug ~ ',
    ({ workspace }) =>
      update(
        'agents',
        `kind = 'contractor', template = 'dev', mission = gen_random_uuid(),
         mission_id = (select min(m.mission_id) from missions m where m.workspace_id = ${workspace})`,
        workspace,
      ),
  ],
  [
    'a mission has twenty contractors at most',
    'missions',
    'cardinality(contractors) <= 20',
    mission("contractors = array_fill('x'::text, array[21])"),
  ],
  [
    'an agent is healthy or degraded',
    'agent_health',
    'status = ANY',
    ({ workspace }) => update('agent_health', "status = 'so-so'", workspace),
  ],
  [
    'progress is a share of a hundred',
    'agent_health',
    'progress_percent <=',
    ({ workspace }) => update('agent_health', 'progress_percent = 100.5', workspace),
  ],
  [
    'nothing is followed before the log begins',
    'log_cursors',
    'seq >= 0',
    ({ workspace }) => update('log_cursors', 'seq = -1', workspace),
  ],
  [
    'a follower of the log has a name',
    'log_cursors',
    "follower <> ''",
    ({ workspace }) => update('log_cursors', "follower = ''", workspace),
  ],
  [
    'a follower of the log never failed fewer than no times',
    'log_cursors',
    'failures >= 0',
    ({ workspace }) => update('log_cursors', 'failures = -1', workspace),
  ],
  [
    'a session has a name',
    'sessions',
    "session <> ''",
    ({ workspace }) => update('sessions', "session = ''", workspace),
  ],
  [
    'a session has an id of its own',
    'sessions',
    '(workspace_id, session_id)',
    ({ workspace }) =>
      `insert into sessions (workspace_id, session, session_id, due_at)
       select workspace_id, 'twin', session_id, due_at from sessions where workspace_id = ${workspace}`,
  ],

  [
    'a session is in a state of the table',
    'sessions',
    "ARRAY['active', 'draining'",
    ({ workspace }) => update('sessions', `state = 'resting'`, workspace),
  ],
  [
    'a worker can hold something',
    'sessions',
    'capacity >= 1',
    ({ workspace }) => update('sessions', 'capacity = 0', workspace),
  ],
  [
    'a session may be silent for a while',
    'sessions',
    'silence_ms > 0',
    ({ workspace }) => update('sessions', 'silence_ms = 0', workspace),
  ],
  [
    'a session has an end exactly when it is over',
    'sessions',
    "ARRAY['ended', 'lost'])) = (ended_at",
    ({ workspace }) => update('sessions', `state = 'lost'`, workspace),
  ],
  [
    'an ended session has a reason',
    'sessions',
    'end_reason IS NULL',
    ({ workspace }) => update('sessions', `end_reason = 'tired'`, workspace),
  ],
  [
    'an open session is checked at some time',
    'sessions',
    'due_at IS NOT NULL',
    ({ workspace }) => update('sessions', 'due_at = null', workspace),
  ],

  [
    'a project has a number that is not "none"',
    'projects',
    'project_id > 0',
    ({ workspace }) => project(workspace, 0, 'other'),
  ],
  [
    'a project has a slug',
    'projects',
    "slug <> ''",
    ({ workspace }) => update('projects', "slug = ''", workspace),
  ],
  [
    'a project has a name',
    'projects',
    "name <> ''",
    ({ workspace }) => update('projects', "name = ''", workspace),
  ],
  [
    'a slug names one project',
    'projects',
    'UNIQUE (workspace_id, slug)',
    ({ workspace }) => project(workspace, 9_999, 'shop'),
  ],
  [
    'a project has a UUID of its own',
    'projects',
    'UNIQUE (workspace_id, uuid)',
    ({ workspace }) =>
      `insert into projects (workspace_id, project_id, uuid, slug, name)
       select workspace_id, 9999, uuid, 'twin', 'twin' from projects where workspace_id = ${workspace}`,
  ],
  [
    'a track has a name',
    'tracks',
    "track <> ''",
    ({ workspace }) => update('tracks', "track = ''", workspace),
  ],
  [
    'a track may have an agent',
    'tracks',
    'max_agents >= 1',
    ({ workspace }) => update('tracks', 'max_agents = 0', workspace),
  ],

  [
    'a task is in a state of the table',
    'tasks',
    "ARRAY['pending', 'queued'",
    ({ queued }) => task(queued, `state = 'resting', rank = null`),
  ],
  ['a priority is 1 to 10', 'tasks', 'priority <= 10', ({ queued }) => task(queued, 'priority = 11')],
  [
    'a generation is never negative',
    'tasks',
    'generation >= 0',
    ({ completed }) => task(completed, 'generation = -1'),
  ],
  ['epochs count from 1', 'tasks', 'epoch >= 1', ({ queued }) => task(queued, 'epoch = 0')],
  ['attempts are never negative', 'tasks', 'attempt >= 0', ({ queued }) => task(queued, 'attempt = -1')],
  [
    'retries are never negative',
    'tasks',
    'max_retries >= 0',
    ({ queued }) => task(queued, 'max_retries = -1'),
  ],
  [
    'a limit of continuations is never negative',
    'tasks',
    'max_continuations >= 0',
    ({ queued }) => task(queued, 'max_continuations = -1'),
  ],
  [
    'a review is one of four kinds',
    'tasks',
    'review = ANY',
    ({ queued }) => task(queued, `review = 'maybe'`),
  ],
  ['a key names one task', 'tasks', 'tasks_key', ({ held }) => task(held, `key = 'A-001-queued'`)],
  ['a project has a number', 'tasks', 'project_id >= 0', ({ queued }) => task(queued, 'project_id = -1')],
  [
    'a divided task is merged in one of two ways',
    'tasks',
    'merge = ANY',
    ({ whole }) => task(whole, `merge = 'somehow'`),
  ],
  ['a part has no parts', 'tasks', 'parent_id IS NULL', ({ part }) => task(part, `merge = 'object'`)],
  [
    'in the queue, a task is due at its expiry, its deadline, or when it is no longer reserved for one agent',
    'tasks',
    'due_at IS DISTINCT FROM expires_at',
    ({ queued }) => task(queued, 'due_at = now()'),
  ],
  [
    'a queued task has its place in the queue',
    'tasks',
    'rank IS NOT NULL',
    ({ queued }) => task(queued, 'rank = null'),
  ],
  [
    'only a finished task has an end',
    'tasks',
    'completed_at IS NOT NULL',
    ({ queued }) => task(queued, 'completed_at = now()'),
  ],
  [
    'a task is held exactly while its claim is active',
    'tasks',
    "claim_state IS DISTINCT FROM 'active'",
    ({ completed }) => task(completed, `claim_state = 'active'`),
  ],
  ['generation 0 means never claimed', 'tasks', 'generation = 0', ({ held }) => task(held, 'generation = 0')],
  [
    'a completed task has its result',
    'tasks',
    'result_hash IS NOT NULL',
    ({ completed }) => task(completed, 'result_hash = null'),
  ],
  [
    'a paused task knows where it goes back to',
    'tasks',
    'paused_from IS NOT NULL',
    ({ queued }) => task(queued, `state = 'paused', rank = null`),
  ],
  [
    'a task that waits for its scheduled time has one',
    'tasks',
    'due_at IS NOT NULL',
    ({ queued }) => task(queued, `state = 'awaiting_retry', rank = null`),
  ],

  [
    'a task has a title',
    'task_details',
    "title <> ''",
    ({ workspace }) => update('task_details', "title = ''", workspace),
  ],
  [
    'a dead letter has what ran out',
    'task_details',
    'exhausted = ANY',
    ({ workspace }) => update('task_details', `exhausted = 'patience'`, workspace),
  ],
  [
    'what waits for a person is of a known kind, since a known time',
    'task_details',
    'num_nulls(waits_kind, waits_since)',
    ({ workspace }) => update('task_details', `waits_kind = 'question'`, workspace),
  ],
  [
    'a dependency has a rule',
    'task_dependencies',
    'trigger_rule = ANY',
    ({ workspace }) => update('task_dependencies', `trigger_rule = 'sometimes'`, workspace),
  ],
  [
    'a dependency hands on data, or only comes earlier',
    'task_dependencies',
    'kind = ANY',
    ({ workspace }) => update('task_dependencies', `kind = 'whim'`, workspace),
  ],
  [
    'a dependency counts an end that was seen at a version',
    'task_dependencies',
    'counted_version >= 0',
    ({ workspace }) => update('task_dependencies', `outcome = 'completed', counted_version = 0`, workspace),
  ],
  [
    'a task does not wait for itself',
    'task_dependencies',
    'task_id <> depends_on',
    ({ workspace }) => update('task_dependencies', 'depends_on = task_id', workspace),
  ],

  [
    'the newest claim of a task is in a state of the table',
    'tasks',
    `claim_state = ANY (ARRAY['active'`,
    ({ completed }) => task(completed, `claim_state = 'lost'`),
  ],
  [
    'a claim has a holder and the time it was granted',
    'tasks',
    'num_nulls(claim_state, session, agent, acquired_at)',
    ({ held }) => task(held, 'acquired_at = null'),
  ],
  [
    'an active claim has a lease that is checked',
    'tasks',
    'num_nulls(lease_expires_at, check_at)',
    ({ held }) => task(held, 'check_at = null'),
  ],

  [
    'attempts count generations from 1',
    'attempts',
    'generation >= 1',
    ({ completed }) => attempted(completed, 'generation = 0'),
  ],
  [
    'attempts count epochs of promotion from 0',
    'attempts',
    'promoted_in >= 0',
    ({ released }) => attempted(released, `promoted_in = -1, ${FORGOTTEN}`),
  ],
  [
    'attempts count epochs from 1',
    'attempts',
    'epoch >= 1',
    ({ completed }) => attempted(completed, 'epoch = 0'),
  ],
  [
    'a claim is over in a state of the table',
    'attempts',
    'state = ANY',
    ({ completed }) => attempted(completed, `state = 'active'`),
  ],
  [
    'a claim that is over has a beginning, an end and a reason',
    'attempts',
    'num_nulls(state, acquired_at, ended_at, end_reason)',
    ({ completed }) => attempted(completed, 'end_reason = null'),
  ],
  [
    'a claim has an agent',
    'attempts',
    'agent IS NOT NULL',
    ({ completed }) => attempted(completed, 'agent = null'),
  ],
  [
    'a promoted result is not in the row of a claim',
    'attempts',
    '(promoted_in = 0) OR (acquired_at IS NULL)',
    ({ completed }) => attempted(completed, 'promoted_in = 1'),
  ],
  [
    'a result is promoted in the epoch it belongs to',
    'attempts',
    'promoted_in = epoch',
    ({ completed }) => attempted(completed, `promoted_in = 2, ${FORGOTTEN}`),
  ],
  [
    'a result has an epoch, a hash, data and a time',
    'attempts',
    'num_nulls(epoch, hash, data, submitted_at)',
    ({ completed }) => attempted(completed, 'data = null'),
  ],
  [
    'only a result is accepted or summarized',
    'attempts',
    'num_nonnulls(accepted, summary)',
    ({ released }) => attempted(released, 'accepted = true'),
  ],
  [
    'a result of an attempt is accepted or awaits a verdict',
    'attempts',
    'CHECK (accepted)',
    ({ completed }) => attempted(completed, 'accepted = false'),
  ],
  [
    'an epoch has at most one result that is not rejected',
    'attempts',
    'attempts_one_result_per_epoch',
    ({ completed }) =>
      `insert into attempts select (jsonb_populate_record(null::attempts, to_jsonb(a) || '{"generation": 2}')).*
         from attempts a where task_id = ${completed}`,
  ],
  [
    'rejected results count generations from 1',
    'rejected_results',
    'generation >= 1',
    ({ workspace }) => update('rejected_results', 'generation = 0', workspace),
  ],
  [
    'rejected results count epochs from 1',
    'rejected_results',
    'epoch >= 1',
    ({ workspace }) => update('rejected_results', 'epoch = 0', workspace),
  ],
  [
    'events count from 1',
    'events',
    'seq >= 1',
    ({ workspace }) =>
      `insert into events (workspace_id, seq, type, actor, payload, at)
       values (${workspace}, 0, 'task_created', 'nobody', '{}', now())`,
  ],
  [
    'where an event came from is known or not written',
    'event_origins',
    'num_nonnulls(key_id, address) > 0',
    ({ workspace }) => update('event_origins', 'key_id = null, address = null', workspace),
  ],

  [
    'a wakeup has one of four sources',
    'wakeups',
    'source = ANY',
    ({ claimed }) => wakeup(claimed, "source = 'a dream'"),
  ],
  [
    'a wakeup came about in one of four ways',
    'wakeups',
    'trigger_detail = ANY',
    ({ claimed }) => wakeup(claimed, "trigger_detail = 'somehow'"),
  ],
  [
    'a wakeup is in a state of the table',
    'wakeups',
    "ARRAY['queued', 'claimed', 'coalesced'",
    ({ claimed }) => wakeup(claimed, "status = 'resting', finished_at = now()"),
  ],
  [
    'a wakeup never merged fewer than none',
    'wakeups',
    'coalesced_count >= 0',
    ({ claimed }) => wakeup(claimed, 'coalesced_count = -1'),
  ],
  [
    'a chain of wakeups has a depth from 0',
    'wakeups',
    'depth >= 0',
    ({ claimed }) => wakeup(claimed, 'depth = -1'),
  ],
  [
    'a wakeup is for a claim that counts from 1',
    'wakeups',
    'generation >= 1',
    ({ claimed }) => wakeup(claimed, 'generation = 0'),
  ],
  [
    'no wakeup is less than unimportant',
    'wakeups',
    'priority >= 0',
    ({ claimed }) => wakeup(claimed, 'priority = -1'),
  ],
  [
    'a wakeup knows its task by both its names or by none',
    'wakeups',
    'task_uuid IS NULL',
    ({ coalesced }) => wakeup(coalesced, 'task_uuid = null'),
  ],
  [
    'a wakeup for a claim is for a task',
    'wakeups',
    'generation IS NULL',
    ({ claimed }) => wakeup(claimed, 'task_id = 0, task_uuid = null'),
  ],
  [
    'a claimed wakeup has a claim time',
    'wakeups',
    '(run_id IS NULL) = (claimed_at IS NULL)',
    ({ claimed }) => wakeup(claimed, 'claimed_at = null'),
  ],
  [
    'a wakeup that became a run has its run',
    'wakeups',
    'run_id IS NOT NULL',
    ({ claimed }) => wakeup(claimed, 'run_id = null, claimed_at = null'),
  ],
  [
    'a wakeup that waits has no run',
    'wakeups',
    'OR (run_id IS NULL)',
    ({ claimed }) => wakeup(claimed, "status = 'queued'"),
  ],
  [
    'a merged wakeup names the other one',
    'wakeups',
    'into_id IS NOT NULL',
    ({ coalesced }) => wakeup(coalesced, 'into_id = null'),
  ],
  [
    'a skipped wakeup has a reason',
    'wakeups',
    'skip_reason IS NOT NULL',
    ({ claimed }) => wakeup(claimed, "status = 'skipped', finished_at = now()"),
  ],
  [
    'a wakeup has an end exactly when it is over',
    'wakeups',
    'finished_at IS NULL',
    ({ claimed }) => wakeup(claimed, 'finished_at = now()'),
  ],
  [
    'of equal wakeups, one waits',
    'wakeups',
    'wakeups_one_queued',
    ({
      workspace,
    }) => `insert into wakeups (workspace_id, wakeup_id, agent, source, status, requested_by, priority, requested_at, due_at)
      select ${workspace}, gen_random_uuid(), 'alpha', 'timer', 'queued', 'system', 1, now(), now() from generate_series(1, 2)`,
  ],
  [
    'one idempotency key makes one wakeup',
    'wakeups',
    'wakeups_idempotency_key',
    ({ workspace }) => update('wakeups', "idempotency_key = 'the same'", workspace),
  ],

  [
    'an agent never had fewer than no runs',
    'agent_runtime_state',
    'runs >= 0',
    ({ workspace }) => update('agent_runtime_state', 'runs = -1', workspace),
  ],
  [
    'an agent never read less than nothing',
    'agent_runtime_state',
    'total_input_tokens >= 0',
    ({ workspace }) => update('agent_runtime_state', 'total_input_tokens = -1', workspace),
  ],
  [
    'an agent never wrote less than nothing',
    'agent_runtime_state',
    'total_output_tokens >= 0',
    ({ workspace }) => update('agent_runtime_state', 'total_output_tokens = -1', workspace),
  ],
  [
    'an agent never read less than nothing from its cache',
    'agent_runtime_state',
    'total_cached_input_tokens >= 0',
    ({ workspace }) => update('agent_runtime_state', 'total_cached_input_tokens = -1', workspace),
  ],
  [
    'an agent never earned money',
    'agent_runtime_state',
    'total_cost_usd >=',
    ({ workspace }) => update('agent_runtime_state', 'total_cost_usd = -0.000001', workspace),
  ],
  [
    'the last run of an agent ended in one of four ways',
    'agent_runtime_state',
    'last_run_status = ANY',
    ({ workspace }) => update('agent_runtime_state', "last_run_status = 'running'", workspace),
  ],
  [
    'an account has a name',
    'parked_credentials',
    "credential <> ''",
    ({ workspace }) => update('parked_credentials', "credential = ''", workspace),
  ],

  [
    'a run is in a state of the table',
    'runs',
    "ARRAY['queued', 'running', 'succeeded'",
    ({ over }) => run(over, "status = 'resting'"),
  ],
  ['a run has one of four sources', 'runs', 'source = ANY', ({ over }) => run(over, "source = 'a dream'")],
  [
    'a run came about in one of four ways',
    'runs',
    'trigger_detail = ANY',
    ({ over }) => run(over, "trigger_detail = 'somehow'"),
  ],
  [
    'a run is under a claim that counts from 1',
    'runs',
    'generation >= 1',
    ({ running }) => run(running, 'generation = 0'),
  ],
  [
    'the attempt of a run is never negative',
    'runs',
    'attempt >= 0',
    ({ running }) => run(running, 'attempt = -1'),
  ],
  ['the depth of a run counts from 0', 'runs', 'depth >= 0', ({ running }) => run(running, 'depth = -1')],
  ['a process has a number', 'runs', 'pid > 0', ({ running }) => run(running, 'pid = 0')],
  [
    'the token of a run is stored as a SHA-256',
    'runs',
    'length(token_hash) = 32',
    ({ running }) => run(running, "token_hash = 'brun_the_token_itself'"),
  ],
  [
    'a token is of one run',
    'runs',
    'runs_by_token',
    ({ running, workspace }) =>
      run(
        running,
        `token_hash = (select token_hash from runs where workspace_id <> ${workspace} and token_hash is not null)`,
      ),
  ],
  [
    'a token does not outlive its run',
    'runs',
    'token_hash IS NULL',
    ({ over }) => run(over, "token_hash = sha256('a token')"),
  ],
  [
    'a run never read less than nothing',
    'runs',
    '(input_tokens >= 0)',
    ({ over }) => run(over, 'input_tokens = -1'),
  ],
  [
    'a run never wrote less than nothing',
    'runs',
    'output_tokens >= 0',
    ({ over }) => run(over, 'output_tokens = -1'),
  ],
  [
    'a run never read less than nothing from its cache',
    'runs',
    'cached_input_tokens >= 0',
    ({ over }) => run(over, 'cached_input_tokens = -1'),
  ],
  ['a run never earned money', 'runs', 'cost_usd >=', ({ over }) => run(over, 'cost_usd = -0.000001')],
  [
    'what a run used is known in one of three ways',
    'runs',
    'usage_basis = ANY',
    ({ over }) => run(over, "usage_basis = 'guessed'"),
  ],
  [
    'what a run used is known as a whole or not at all',
    'runs',
    'num_nulls(input_tokens',
    ({ over }) => run(over, 'output_tokens = null'),
  ],
  [
    'the cached tokens of a run are part of its usage',
    'runs',
    'cached_input_tokens IS NULL',
    ({ running }) => run(running, 'cached_input_tokens = 1'),
  ],
  [
    'a log is in one of three stores',
    'runs',
    'log_store = ANY',
    ({ over }) => run(over, "log_store = 'a drawer'"),
  ],
  ['a log has a length', 'runs', 'log_bytes >= 0', ({ over }) => run(over, 'log_bytes = -1')],
  [
    'a log is somewhere in its store',
    'runs',
    '(log_store IS NULL) = (log_ref IS NULL)',
    ({ over }) => run(over, 'log_ref = null'),
  ],
  [
    'a deleted log existed',
    'runs',
    'log_deleted_at IS NULL',
    ({ running }) => run(running, 'log_deleted_at = now()'),
  ],
  [
    'a run has an end exactly when it is over',
    'runs',
    'finished_at IS NULL',
    ({ over }) => run(over, 'finished_at = null'),
  ],
  [
    'a failed run has a reason',
    'runs',
    'error_code IS NOT NULL',
    ({ over }) => run(over, "status = 'failed'"),
  ],
  [
    'a run that went well has no error',
    'runs',
    'error_code IS NULL',
    ({ over }) => run(over, "error_code = 'timeout'"),
  ],
  [
    'a run that waits has not begun',
    'runs',
    'started_at IS NULL',
    ({ running }) => run(running, "status = 'queued'"),
  ],
  [
    'an active run has started',
    'runs',
    'started_at IS NOT NULL',
    ({ running }) => run(running, 'started_at = null'),
  ],
  [
    'a run is about a task under a claim, or about none',
    'runs',
    'num_nulls(task_id',
    ({ running }) => run(running, 'generation = null'),
  ],
  [
    'of one claim, one run is active at a time',
    'runs',
    'runs_one_per_claim',
    ({ running }) => `insert into runs select (jsonb_populate_record(null::runs, to_jsonb(r)
      || jsonb_build_object('run_id', gen_random_uuid(), 'token_hash', null))).* from runs r where run_id = '${running}'`,
  ],
  [
    'only a live run waits for messages of its agent',
    'runs',
    'awaiting IS NULL',
    ({ over }) => run(over, "awaiting = '{}'"),
  ],
  [
    'an agent that answers by a time is waited for',
    'runs',
    'answer_due_at IS NULL',
    ({ running }) => run(running, 'answer_due_at = now()'),
  ],
  [
    'the messages of an agent count from 1',
    'run_messages',
    'number >= 1',
    ({ workspace }) => update('run_messages', 'number = 0', workspace),
  ],
  [
    'what happens in a run counts from 1',
    'run_events',
    'seq >= 1',
    ({ workspace }) => update('run_events', 'seq = 0', workspace),
  ],
  [
    'what happens in a run is of one of five kinds',
    'run_events',
    'event_type = ANY',
    ({ workspace }) => update('run_events', "event_type = 'gossip'", workspace),
  ],
  [
    'output comes by one of three streams',
    'run_events',
    'stream = ANY',
    ({ workspace }) => update('run_events', "stream = 'upstream'", workspace),
  ],
  [
    'what happens in a run has one of three levels',
    'run_events',
    'level = ANY',
    ({ workspace }) => update('run_events', "level = 'so-so'", workspace),
  ],
  [
    'a log begins at its beginning',
    'run_log_chunks',
    'chunk_offset >= 0',
    ({ workspace }) => update('run_log_chunks', 'chunk_offset = -1', workspace),
  ],
  [
    'a piece of a log is not shorter than nothing',
    'run_log_chunks',
    'bytes >= 0',
    ({ workspace }) => update('run_log_chunks', 'bytes = -1', workspace),
  ],
  [
    'a piece of a log is of one of three streams',
    'run_log_chunks',
    'stream = ANY',
    ({ workspace }) => update('run_log_chunks', "stream = 'upstream'", workspace),
  ],

  ['a mission has a goal', 'missions', "goal <> ''", mission("goal = ''")],
  ['a mission has a title', 'missions', "title <> ''", mission("title = ''")],
  ['a gate is not closed for less than no time', 'missions', 'closed_ms >= 0', mission('closed_ms = -1')],
  ['the priority of a mission is 1 to 10', 'missions', 'priority <= 10', mission('priority = 11')],
  ['the project of a mission has a number', 'missions', 'project_id >= 0', mission('project_id = -1')],
  [
    'a mission is in a phase of the table',
    'missions',
    "ARRAY['pending'",
    mission("phase = 'nowhere', state = 'nowhere'"),
  ],
  [
    'a gate is closed by known reasons',
    'missions',
    'closed_by <@',
    mission("closed_by = '{unapproved,rain}'"),
  ],
  [
    'the state of a mission follows from its phase and its gate',
    'missions',
    '((state =',
    mission("state = 'running'"),
  ],
  ['what a gate lets through follows, too', 'missions', '((open_for =', mission("open_for = 'all'")],
  ['only a running mission is retried', 'missions', 'retry_at IS NULL', mission('retry_at = now()')],
  [
    'no mission follows a plan that was rejected',
    'missions',
    'ANY (rejected_versions)',
    mission('plan_version = 1, approved_version = 1, rejected_versions = array[1]'),
  ],
  ['a mission may have a task under way', 'missions', 'max_parallel >= 1', mission('max_parallel = 0')],
  ['plans count from 1', 'missions', 'plan_version >= 1', mission('plan_version = 0')],
  [
    'the approved plan exists',
    'missions',
    'approved_version <= plan_version',
    mission('approved_version = plan_version + 1'),
  ],
  [
    'a mission has an end exactly when it is over',
    'missions',
    '= (completed_at IS NOT NULL)',
    mission(`completed_at = now(), closed_by = '{}'`),
  ],
  [
    'nothing closes a mission that is over',
    'missions',
    'cardinality(closed_by) = 0',
    mission(`phase = 'failed', state = 'failed', open_for = 'report', completed_at = now()`),
  ],
  [
    'a mission runs by an approved plan',
    'missions',
    "phase <> 'running'",
    mission(`phase = 'running', state = 'running', open_for = 'all'`),
  ],
  ...taskStates
    .filter((state) => state !== 'failed')
    .map(
      (state): Guard => [
        `there are never fewer than no tasks of a mission that are ${state}`,
        'mission_counters',
        `CHECK ((${state} >= 0))`,
        ({ workspace }) => update('mission_counters', `${state} = -1`, workspace),
      ],
    ),
  [
    'optional tasks that failed are among the failed ones',
    'mission_counters',
    'failed_optional <= failed',
    ({ workspace }) => update('mission_counters', 'failed_optional = 1', workspace),
  ],
  [
    'agents add a hundred tasks to a mission at most',
    'mission_counters',
    'children <= 100',
    ({ workspace }) => update('mission_counters', 'children = 101', workspace),
  ],
  [
    'a mission never uses fewer than no tokens',
    'mission_counters',
    'tokens >= 0',
    ({ workspace }) => update('mission_counters', 'tokens = -1', workspace),
  ],
  [
    'a mission never costs less than nothing',
    'mission_counters',
    'usd >= ',
    ({ workspace }) => update('mission_counters', 'usd = -1', workspace),
  ],
  ['a routine has a name', 'routines', "name <> ''", ofRoutine("name = ''")],
  ['a routine has a goal', 'routines', "goal <> ''", ofRoutine("goal = ''")],
  ['the missions of a routine have a title', 'routines', "title <> ''", ofRoutine("title = ''")],
  ['the priority of a routine is from 1 to 10', 'routines', 'priority >= 1', ofRoutine('priority = 11')],
  ['a routine is in a project or none', 'routines', 'project_id >= 0', ofRoutine('project_id = -1')],
  ['the plan of a routine has tasks or none', 'routines', 'task_count >= 0', ofRoutine('task_count = -1')],
  ['skipped times are counted from 0', 'routines', 'skipped_in_row >= 0', ofRoutine('skipped_in_row = -1')],
  ['only a schedule fires', 'routines', 'next_at IS NULL', ofRoutine('schedule = null')],
  ['a disabled routine does not fire', 'routines', 'next_at IS NULL', ofRoutine('is_enabled = false')],
  ['a removed routine does not fire', 'routines', 'next_at IS NULL', ofRoutine('removed_at = now()')],
  ['what waits is listed', 'routines', 'json_array_length', ofRoutine("waiting = '[1]'")],
  ['only what waits replaces', 'routines', 'is_replacing', ofRoutine('is_replacing = true')],
  [
    'a scheduled time becomes one mission',
    'routine_fires',
    'UNIQUE (workspace_id, routine_id, scheduled_for)',
    ({ workspace }) =>
      `with fired as (select r.routine_id, m.mission_id from routines r join missions m using (workspace_id)
         where workspace_id = ${workspace} and not exists (select from routine_fires f
           where f.workspace_id = ${workspace} and f.mission_id = m.mission_id) limit 1),
       twice as (update routine_fires set scheduled_for = '2026-01-01' where workspace_id = ${workspace})
       insert into routine_fires (workspace_id, routine_id, mission_id, scheduled_for)
         select ${workspace}, routine_id, mission_id, '2026-01-01' from fired`,
  ],
  [
    'a comment is about a task or a mission, not both',
    'comments',
    'num_nonnulls(task_id, mission_id) = 1',
    commented(
      'mission_id = (select max(mission_id) from missions m where m.workspace_id = comments.workspace_id)',
    ),
  ],
  ['a comment says something', 'comments', 'char_length(text)', commented("text = ''")],
  ['a comment is not too long', 'comments', 'char_length(text)', commented("text = repeat('x', 10001)")],
  ['a comment has an author', 'comments', "author <> ''", commented("author = ''")],
  [
    'a comment answers an earlier one',
    'comments',
    'reply_to < comment_id',
    commented('reply_to = comment_id'),
  ],
  [
    'a comment has an id of its own',
    'comments',
    'UNIQUE (workspace_id, uuid)',
    ({ workspace }) => update('comments', 'uuid = (select max(uuid::text)::uuid from comments)', workspace),
  ],
  ['versions of reports count from 1', 'reports', 'version >= 1', reported('version = 0')],
  ['a report has one of six types', 'reports', 'type = ANY', reported("type = 'novel'")],
  ['a report comes from somewhere known', 'reports', 'source = ANY', reported("source = 'rumour'")],
  ['a report has an author', 'reports', "author <> ''", reported("author = ''")],
  ['a report says something', 'reports', 'octet_length(markdown)', reported("markdown = ''")],
  [
    'a report is not too long',
    'reports',
    'octet_length(markdown)',
    reported("markdown = repeat('x', 1048577)"),
  ],
  [
    'what is not handed in tells of an end',
    'reports',
    "(source = 'submitted') = (ended_seq IS NULL)",
    reported('ended_seq = null'),
  ],
  ['a version of a report exists once', 'reports', 'bigint), version)', reported('version = 2')],
  ['an end is reported on once', 'reports', 'bigint), ended_seq)', reported('ended_seq = 2')],
  [
    'a report has an id of its own',
    'reports',
    'UNIQUE (workspace_id, uuid)',
    reported(
      'uuid = (select uuid from reports r where r.workspace_id = reports.workspace_id and r.version = 2)',
    ),
  ],
  ['a mission has no fewer reports than none', 'missions', 'report_count >= 0', mission('report_count = -1')],
  ['versions of plans count from 1', 'mission_plans', 'version >= 1', planned('version = 0')],
  ['a plan has tasks or none', 'mission_plans', 'task_count >= 0', planned('task_count = -1')],
  ['an estimate is not negative', 'mission_plans', 'estimated_tokens >= 0', planned('estimated_tokens = -1')],
  ['an estimated price is not negative', 'mission_plans', 'estimated_usd >= ', planned('estimated_usd = -1')],
  [
    'a task has one of four purposes',
    'tasks',
    'purpose = ANY',
    ({ queued }) => task(queued, "purpose = 'fun'"),
  ],
  [
    'only a verification judges a result',
    'tasks',
    'serves IS NOT NULL',
    ({ queued }) => task(queued, `serves = '{"taskId":1}'`),
  ],

  ['a node belongs to the cluster', 'nodes', 'workspace_id = 0', () => 'update nodes set workspace_id = 1'],
  [
    'the id of the database belongs to the cluster',
    'instance',
    'workspace_id = 0',
    () => 'update instance set workspace_id = 1',
  ],
  ['a node has a name', 'nodes', "name <> ''", () => `update nodes set name = ''`],
  [
    'a leader term belongs to the cluster',
    'leader_leases',
    'workspace_id = 0',
    () => 'update leader_leases set workspace_id = 1',
  ],
  ['a leader lease has a role', 'leader_leases', "role <> ''", () => `update leader_leases set role = ''`],
  ['terms count from 1', 'leader_leases', 'term >= 1', () => 'update leader_leases set term = 0'],
  [
    'an ended term has a reason',
    'leader_leases',
    '= (end_reason IS NULL)',
    () => 'update leader_leases set ended_at = now()',
  ],
  [
    'a term ends in one of two ways',
    'leader_leases',
    'end_reason = ANY',
    () => `update leader_leases set ended_at = now(), end_reason = 'TIRED'`,
  ],
  [
    'a lease is of some length',
    'leader_leases',
    'expires_at > renewed_at',
    () => 'update leader_leases set expires_at = renewed_at',
  ],
  [
    'at most one term of a lease is active',
    'leader_leases',
    'leader_leases_one_open',
    () => `insert into leader_leases (role, term, node_id, taken_at, renewed_at, expires_at)
       select role, term + 1, node_id, taken_at, renewed_at, expires_at from leader_leases`,
  ],
]

const update = (table: string, set: string, workspace: number) =>
  `update ${table} set ${set} where workspace_id = ${workspace}`
const project = (workspace: number, id: number, slug: string) =>
  `insert into projects (workspace_id, project_id, uuid, slug, name)
   values (${workspace}, ${id}, gen_random_uuid(), '${slug}', 'x')`
const wakeup = (id: string, set: string) => `update wakeups set ${set} where wakeup_id = '${id}'`
const run = (id: string, set: string) => `update runs set ${set} where run_id = '${id}'`
const task = (id: number, set: string) => `update tasks set ${set} where id = ${id}`
const attempted = (id: number, set: string) => `update attempts set ${set} where task_id = ${id}`
const FORGOTTEN = 'state = null, acquired_at = null, ended_at = null, end_reason = null'

describe('the database repeats the invariants', () => {
  test.each(GUARDS)('%s', async (_claim, table, words, breaking) => {
    const guards = (await constraints()).filter((c) => c.table === table && c.definition.includes(words))
    expect(guards, 'these words name one constraint').toHaveLength(1)
    expect(await attempt(breaking(database.a))).toMatchObject({
      code: expect.stringMatching(/^23(514|505)$/),
      constraint: guards[0]!.name,
    })
  })

  test('every constraint of the schema is tested above', async () => {
    const shown = (c: Constraint) =>
      GUARDS.some(([, table, words]) => c.table === table && c.definition.includes(words))
    expect((await constraints()).filter((c) => !shown(c))).toEqual([])
  })

  test('a key names one task of each project, and one outside of them', async () => {
    const { queued, onTrack } = database.a
    expect(await attempt(task(onTrack, `key = 'A-001-queued'`))).toBeNull()
    expect(await attempt(task(onTrack, `key = 'A-001-queued', project_id = 0`))).toMatchObject({
      code: '23505',
      constraint: 'tasks_key',
    })
    expect(await attempt(task(queued, `key = 'A-001-on-track'`))).toBeNull()
  })

  test('more sessions than a workspace may have are refused, as a race that is retried', async () => {
    const { workspace } = database.a
    expect(await attempt('select refuse_sessions_over_limit($1, 1)', [workspace])).toBeNull()
    expect(await attempt('select refuse_sessions_over_limit($1, 0)', [workspace])).toMatchObject({
      code: 'BT001',
    })
  })

  test('no table accepts the same row twice', async () => {
    const twice = (table: string, workspace: number) =>
      attempt(`insert into ${table} select * from ${table} where workspace_id = $1 limit 1`, [workspace])
    for (const table of await workspaceTables(database.url))
      expect(await twice(table, database.a.workspace), table).toMatchObject({ code: '23505' })
    for (const table of CLUSTER_TABLES) expect(await twice(table, 0), table).toMatchObject({ code: '23505' })
  })
})

describe('no row points across workspaces', () => {
  const foreignKeys = () =>
    superuser(database.url, async (client) => {
      const { rows } = await client.query<{ table: string; target: string; from: string[]; to: string[] }>(
        `select c.conrelid::regclass::text as table, c.confrelid::regclass::text as target,
                (select array_agg(a.attname::text order by k.n) from unnest(c.conkey) with ordinality as k(num, n)
                   join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.num) as from,
                (select array_agg(a.attname::text order by k.n) from unnest(c.confkey) with ordinality as k(num, n)
                   join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.num) as to
           from pg_constraint c where c.connamespace = 'baton'::regnamespace and c.contype = 'f' order by 1`,
      )
      return rows.map((row) => ({ ...row, table: row.table.replace('baton.', '') }))
    })

  test('every foreign key leads with workspace_id on both sides', async () => {
    const keys = await foreignKeys()
    expect(keys.length).toBeGreaterThanOrEqual(13)
    for (const { table, from, to } of keys)
      expect([table, from[0], to[0]]).toEqual([table, 'workspace_id', 'workspace_id'])
  })

  /** Written with every task: a trigger checks them, once for all rows of a statement. */
  const HELD_BY_TRIGGER = ['attempts', 'rejected_results', 'task_details']

  test('every table references a workspace, except the log, what lives for seconds and those that a trigger checks', async () => {
    const hanging = new Set((await foreignKeys()).map(({ table }) => table))
    const loose = (await workspaceTables(database.url)).filter((table) => !hanging.has(table))
    expect(loose).toEqual([...HELD_BY_TRIGGER, 'tasks', 'events', 'run_log_tail', 'workspaces'].sort())
  })

  /** What must differ for a copied row to reach its foreign keys. */
  const UNIQUE_EVERYWHERE: Record<string, object> = {
    api_keys: { key_hash: `\\x${'ab'.repeat(32)}`, created_by: '01890000-0000-7000-8000-00000000ffff' },
    event_origins: { seq: 1_000_000 },
    runs: { token_hash: null },
    sign_in_links: { link_hash: `\\x${'ab'.repeat(32)}` },
    socket_tickets: { ticket_hash: `\\x${'ab'.repeat(32)}` },
  }

  test('a comment answers one of its own thread only', async () => {
    const { a, b } = database
    const reply = (task: number, to: string) =>
      attempt(
        `insert into comments (workspace_id, uuid, thread, task_id, reply_to, author, text, created_at)
         select $1, gen_random_uuid(), $2, $2, comment_id, 'key:test', 'a reply', now() from comments where ${to}`,
        [a.workspace, task],
      )
    const own = `workspace_id = ${a.workspace} and task_id = ${a.queued}`
    expect(await reply(a.queued, own)).toBeNull()
    expect(await reply(a.held, own)).toMatchObject({ code: '23503' })
    const ofMission = `workspace_id = ${a.workspace} and mission_id is not null`
    expect(await reply(a.queued, ofMission)).toMatchObject({ code: '23503' })
    const foreign = `workspace_id = ${b.workspace} and task_id = ${b.queued}`
    expect(await reply(a.queued, foreign)).toMatchObject({ code: '23503' })
  })

  test('a mission waits for one of its own workspace only', async () => {
    const { a, b } = database
    const waitsFor = (of: number) =>
      attempt(
        `update missions set after_mission = (select max(mission_id) from missions where workspace_id = $2) where workspace_id = $1`,
        [a.workspace, of],
      )
    expect(await waitsFor(b.workspace)).toMatchObject({ code: '23503' })
    expect(await waitsFor(a.workspace)).toBeNull()
  })

  test('a contractor works for a mission of its own workspace only', async () => {
    const { a, b } = database
    const worksFor = (of: number) =>
      attempt(
        `insert into agents (workspace_id, agent_id, slug, name, kind, template, mission, mission_id)
         select $1, gen_random_uuid(), 'dev@mission-0123456789ab', 'Dev', 'contractor', 'dev', m.uuid, m.mission_id
           from missions m where m.workspace_id = $2 limit 1`,
        [a.workspace, of],
      )
    expect(await worksFor(b.workspace)).toMatchObject({ code: '23503' })
    expect(await worksFor(a.workspace)).toBeNull()
  })

  test('a row of one workspace cannot be copied to another, or to none', async () => {
    const { a, b } = database
    const keys = (await foreignKeys()).filter(({ table }) => !CLUSTER_TABLES.includes(table))
    const pointing = new Set([...HELD_BY_TRIGGER, 'tasks', ...keys.map(({ table }) => table)])
    // Most missions wait for no other one, most agents are made for none, and most routines are made from none.
    const isRare = (table: string) => ['missions', 'agents', 'routines'].includes(table)
    const inside = keys.filter(({ table, target }) => !isRare(table) && !target.endsWith('workspaces'))
    const pointsInside = new Set([...HELD_BY_TRIGGER, ...inside.map(({ table }) => table)])
    for (const table of pointing) {
      const fresh = JSON.stringify(UNIQUE_EVERYWHERE[table] ?? {})
      const moved = `insert into ${table} select (jsonb_populate_record(null::${table}, to_jsonb(t)
          || jsonb_build_object('workspace_id', $2::int) || '${fresh}')).* from ${table} t where workspace_id = $1 limit 1`
      expect(await attempt(moved, [a.workspace, 999_999]), table).toMatchObject({ code: '23503' })
      if (pointsInside.has(table))
        expect(await attempt(moved, [a.workspace, b.workspace]), table).toMatchObject({ code: '23503' })
    }
    expect([...pointsInside].sort()).toEqual([
      'agent_health',
      'agent_runtime_state',
      'agent_task_sessions',
      'api_keys',
      'attempts',
      'browser_sessions',
      'comments',
      'event_origins',
      'mission_counters',
      'mission_plans',
      'rejected_results',
      'reports',
      'routine_fires',
      'run_events',
      'run_invocations',
      'run_messages',
      'runs',
      'sign_in_links',
      'socket_tickets',
      'task_dependencies',
      'task_details',
      'task_tags',
      'track_claims',
      'tracks',
      'wakeups',
    ])
  })

  test('a leader term belongs to a known node', async () => {
    const unknown = 'update leader_leases set node_id = gen_random_uuid()'
    expect(await attempt(unknown)).toMatchObject({ code: '23503' })
    expect(await attempt('delete from nodes')).toMatchObject({ code: '23503' })
  })

  /** A copy of a waiting task under a new number, with these columns instead of its own. */
  const another = (of: Seeded, columns: object) =>
    `insert into tasks select (jsonb_populate_record(null::tasks, to_jsonb(t) || '${JSON.stringify({
      id: 999_999,
      key: null,
      ...columns,
    })}')).* from tasks t where id = ${of.queued}`
  const PROJECT = { code: '23503', message: 'a task must belong to a project of its workspace' }
  const PART = { code: '23503', message: 'a part must belong to a task of its workspace' }

  test('a workspace with tasks cannot be deleted', async () => {
    const removed = attempt('delete from workspaces where workspace_id = $1', [database.a.workspace])
    expect(await removed).toMatchObject({ code: '23503' })
  })

  test('a task is of a mission of its own workspace, or of none', async () => {
    const { a, b } = database
    const missionOf = ({ workspace }: Seeded) =>
      superuser(database.url, async (client) => {
        const found = await client.query('select mission_id from baton.missions where workspace_id = $1', [
          workspace,
        ])
        return Number(found.rows[0].mission_id)
      })
    expect(await attempt(another(a, { mission_id: await missionOf(a) }))).toBeNull()
    expect(await attempt(another(a, { mission_id: await missionOf(b) }))).toMatchObject({
      code: '23503',
      message: 'a task must belong to a mission of its workspace',
    })
  })

  test('a task is in a project of its own workspace, or in none', async () => {
    const { a, b } = database
    expect(await attempt(another(a, { project_id: a.project }))).toBeNull()
    expect(await attempt(another(a, { project_id: 0 }))).toBeNull()
    expect(await attempt(another(a, { project_id: b.project }))).toMatchObject(PROJECT)
    expect(await attempt(another(a, { project_id: 999_999 }))).toMatchObject(PROJECT)
  })

  test('a part belongs to a task of its own workspace', async () => {
    const { a, b } = database
    expect(await attempt(another(a, { parent_id: a.whole }))).toBeNull()
    expect(await attempt(another(a, { parent_id: b.whole }))).toMatchObject(PART)
    expect(await attempt(another(a, { parent_id: 888_888 }))).toMatchObject(PART)
  })

  test('among many rows of one statement, one that points elsewhere is found', async () => {
    const { a, b } = database
    const many = (column: string, last: number) =>
      `insert into tasks select (jsonb_populate_record(null::tasks, to_jsonb(t)
         || jsonb_build_object('id', 900000 + i, 'key', null, '${column}', case i when 100 then ${last} else null end)
         || case when '${column}' = 'project_id' and i < 100 then '{"project_id": 0}'::jsonb else '{}' end)).*
         from tasks t, generate_series(1, 100) i where t.id = ${a.queued}`
    expect(await attempt(many('parent_id', a.whole))).toBeNull()
    expect(await attempt(many('parent_id', b.whole))).toMatchObject(PART)
    expect(await attempt(many('project_id', a.project))).toBeNull()
    expect(await attempt(many('project_id', b.project))).toMatchObject(PROJECT)
  })

  test('a track belongs to a project, and an agent on it holds a task, all of one workspace', async () => {
    const { a, b } = database
    const track = (project: number) =>
      `insert into tracks (workspace_id, project_id, track) values (${a.workspace}, ${project}, 'Z')`
    expect(await attempt(track(a.project))).toBeNull()
    expect(await attempt(track(b.project))).toMatchObject({ code: '23503' })
    const onTrack = (task: number, project: number) =>
      `insert into track_claims (workspace_id, task_id, project_id, track, agent)
       values (${a.workspace}, ${task}, ${project}, 'Z', 'alpha')`
    expect(await attempt(onTrack(a.held, a.project))).toBeNull()
    expect(await attempt(onTrack(a.held, b.project))).toMatchObject({ code: '23503' })
    expect(await attempt(onTrack(b.held, a.project))).toMatchObject({ code: '23503' })
  })

  test('a run is about a task of its own workspace, and a wakeup is merged into one of its own', async () => {
    const { a, b } = database
    expect(await attempt(run(a.running, `task_id = ${a.queued}`))).toBeNull()
    expect(await attempt(run(a.running, `task_id = ${b.queued}`))).toMatchObject({ code: '23503' })
    expect(await attempt(wakeup(a.coalesced, `into_id = '${b.claimed}'`))).toMatchObject({ code: '23503' })
    expect(await attempt(wakeup(a.coalesced, `into_id = gen_random_uuid()`))).toMatchObject({ code: '23503' })
    expect(await attempt(wakeup(a.claimed, `agent = 'agent-of-${b.workspace}'`))).toMatchObject({
      code: '23503',
    })
  })

  /** How many rows there are of each once this was done; it is rolled back. */
  const leftAfter = (sql: string, tables: readonly string[]) =>
    superuser(database.url, async (client) => {
      await client.query('set search_path = baton')
      await client.query('begin')
      await client.query(sql)
      const counts: Record<string, number> = {}
      for (const table of tables)
        counts[table] = (
          await client.query(
            `select count(*)::int as n from ${table} where workspace_id = ${database.a.workspace}`,
          )
        ).rows[0].n
      await client.query('rollback')
      return counts
    })

  test('removing an agent deletes its runtime state, but not its runs', async () => {
    const { workspace } = database.a
    const gone = ['agent_runtime_state', 'agent_task_sessions', 'wakeups']
    const remove = `delete from agent_health where workspace_id = ${workspace};
      delete from agents where workspace_id = ${workspace} and slug = 'agent-of-${workspace}'`
    expect(await leftAfter(remove, [...gone, 'runs', 'run_events', 'run_log_chunks'])).toEqual({
      ...Object.fromEntries(gone.map((table) => [table, 0])),
      ...{ runs: 2, run_events: 1, run_log_chunks: 1 },
    })
  })

  test('deleting a wakeup deletes those merged into it', async () => {
    const { claimed, coalesced } = database.a
    const forget = (id: string) => leftAfter(`delete from wakeups where wakeup_id = '${id}'`, ['wakeups'])
    expect(await forget(coalesced)).toEqual({ wakeups: 1 })
    expect(await forget(claimed)).toEqual({ wakeups: 0 })
  })

  test('a task is on one track at most', async () => {
    const { workspace, onTrack, project } = database.a
    const twice = `insert into track_claims (workspace_id, task_id, project_id, track, agent)
      values (${workspace}, ${onTrack}, ${project}, 'B', 'beta')`
    expect(await attempt(twice)).toMatchObject({ code: '23505', constraint: 'track_claims_pkey' })
  })

  test('every trigger of the schema is tested here', async () => {
    const { rows } = await superuser(database.url, (client) =>
      client.query(
        `select c.relname as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
          where c.relnamespace = 'baton'::regnamespace and not t.tgisinternal order by 1`,
      ),
    )
    // Two of task_details keep its tags in task_tags: postgres-plans.
    const held = [...HELD_BY_TRIGGER, 'tasks', 'task_details', 'task_details']
    expect(rows.map(({ name }) => name)).toEqual(held.sort())
  })

  test('workspace_id leads the primary key of every table', async () => {
    const { rows } = await superuser(database.url, (client) =>
      client.query<{ table: string; first: string }>(
        `select c.relname as table, a.attname as first from pg_class c
           left join pg_index i on i.indrelid = c.oid and i.indisprimary
           left join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
          where c.relnamespace = 'baton'::regnamespace and c.relkind in ('r', 'p')
            and c.relname <> 'schema_migrations' order by 1`,
      ),
    )
    expect(rows.length).toBeGreaterThanOrEqual(16)
    expect(rows.filter(({ first }) => first !== 'workspace_id')).toEqual([])
  })
})
