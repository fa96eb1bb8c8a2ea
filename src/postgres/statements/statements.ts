import { hash } from 'node:crypto'
import { taskStates } from '../../pure/states.ts'
import { type Column, taskColumns } from './columns.ts'
import { OPEN_LANES, OWN_LANES } from './lanes.ts'
import { asRows, type Rows } from './rows.ts'

/** The statements of the write path. Each is prepared once per connection under its name. */
export interface Statement {
  name: string
  text: string
}
/** A statement with its parameters. */
export type Bound = [Statement, unknown[]]

const texts = new Map<string, string>()

/** A connection keeps one statement under a name. Without a name it is prepared each time. */
export function statement(name: string, text: string): Statement {
  const known = name === '' ? text : (texts.get(name) ?? text)
  if (known !== text) throw new Error(`two statements are called ${name}`)
  texts.set(name, text)
  return { name, text }
}

type Types = Record<string, Column['type']>
export const columnsOf = (types: Types): Column[] =>
  Object.entries(types).map(([name, type]) => ({ name, type }))

export const begin = statement('begin', 'begin')
export const commit = statement('commit', 'commit')
export const rollback = statement('rollback', 'rollback')
// Last of all that is read, after the locks.
export const clock = statement('clock', 'select ms(clock_timestamp())')

// The workspace this transaction may see. $1 workspace.
export const nameWorkspace = statement('name_workspace', `select set_config('baton.workspace_id', $1, true)`)

// The tasks of a batch, locked in ascending order. Keys never change, so foreign keys to the row need not wait.
// $1 workspace, $2 ids.
export const lockTasks = statement(
  'lock_tasks',
  `select ${taskColumns('t')} from tasks t where t.workspace_id = $1 and t.id = any($2::bigint[]) order by t.id for no key update`,
)

// The same, and everything these sessions and agents hold: one statement, so that there is one lock order. $3 sessions, $4
// agents.
export const lockTasksAndHeld = statement(
  'lock_tasks_and_held',
  `select ${taskColumns('t')} from tasks t where t.workspace_id = $1 and t.id = any($2::bigint[] || array(
     select h.id from tasks h where h.workspace_id = $1 and h.claim_state = 'active' and h.session = any($3::text[])) || array(
     select h.id from tasks h where h.workspace_id = $1 and h.claim_state = 'active' and h.agent = any($4::text[])))
   order by t.id for no key update`,
)

// The non-empty open lanes of the queue (lanes.ts); then the first tasks of each matching lane,
// locked, skipping those that others are claiming. Of many lanes a few tasks each are enough: every lane is included, and
// callers claim again. Then, in the same way, the first tasks that are reserved for these agents; the last column distinguishes them.
// $1 workspace, $2 capabilities, $3 limit, $4 project or null, $5 track queues or null; $6 agents, $7 how many for each, $8
// capabilities of each, $9 purposes.
const waitingTasks = (ready: string) => `with recursive ${OPEN_LANES},
   fitting as (
     select l.lane, least($3::int, greatest(4, 2 * $3::int / count(*) over ())) as wanted from lanes l
      where l.capabilities <@ $2::text[] and ($4::int is null or l.project_id = $4)
        and ($5::text[] is null or l.track_queue = any($5)) and l.purpose = any($9::text[])),
   own as (select * from unnest($6::text[], $7::int[], $8::text[]) as a(agent, wanted, capabilities)),
   ${OWN_LANES}
   select ready.*, false from fitting f cross join lateral (
     ${ready}) ready
   union all
   select ready.*, true from own o cross join lateral (
     select ${taskColumns('t')} from tasks t
      where t.workspace_id = $1 and t.rank is not null and t.only_agent = o.agent and t.lane < '~'
        and t.capabilities <@ o.capabilities::text[] and 'work' = any($9::text[])
      order by t.rank, t.id limit o.wanted for no key update skip locked) ready
   union all
   select ready.*, true from own o join own_lanes l on l.agent = o.agent and l.purpose = any($9::text[]) cross join lateral (
     select ${taskColumns('t')} from tasks t
      where t.workspace_id = $1 and t.rank is not null and t.only_agent = o.agent and t.lane = l.lane
        and t.capabilities <@ o.capabilities::text[]
      order by t.rank, t.id limit o.wanted for no key update skip locked) ready`
const inLane = 't.workspace_id = $1 and t.lane = f.lane and t.rank is not null and t.only_agent is null'
export const lockWaiting = statement(
  'lock_waiting',
  waitingTasks(`select ${taskColumns('t')} from tasks t where ${inLane}
      order by t.rank, t.id limit f.wanted for no key update skip locked`),
)

/** How many tasks of a lane are looked through for those of some types. */
const MOST_LOOKED_THROUGH = 10_000
/** Of them, how many others may be claiming at the moment. */
const MOST_TAKEN_BY_OTHERS = 100

// The same for an agent that takes only work of some types. $10 types.
export const lockWaitingOfTypes = statement(
  'lock_waiting_of_types',
  waitingTasks(`select ${taskColumns('t')} from tasks t where t.workspace_id = $1 and t.id = any(array(
        select h.id from (select t.id, t.purpose, t.rank from tasks t where ${inLane} order by t.rank, t.id limit ${MOST_LOOKED_THROUGH}) h
         where h.purpose <> 'work' or (select d.task_type = any($10::text[]) from task_details d
           where d.workspace_id = $1 and d.task_id = h.id)
         order by h.rank, h.id limit f.wanted + ${MOST_TAKEN_BY_OTHERS})) and ${inLane}
      order by t.rank, t.id limit f.wanted for no key update skip locked`),
)

// Missions as claims see them. $1 workspace, $2 missions.
export const gatesOf = statement(
  'gates_of',
  `select m.mission_id, m.uuid, m.phase, m.closed_by, m.max_parallel, held_tasks(c), m.closed_ms, ms(m.closed_at)
     from missions m join mission_counters c on c.workspace_id = m.workspace_id and c.mission_id = m.mission_id
    where m.workspace_id = $1 and m.mission_id = any($2::bigint[])`,
)

// The holders of these past generations of these tasks. $1 workspace, $2 tasks, $3 generations.
export const holdersOf = statement(
  'holders_of',
  `select task_id, generation, session, agent, ms(acquired_at) from attempts
    where workspace_id = $1 and task_id = any($2::bigint[]) and generation = any($3::int[]) and acquired_at is not null`,
)

// Unused task ids, as one text: a thousand values would cost the driver more than the database. $1 how many.
export const freshIds = statement(
  'fresh_ids',
  `select string_agg(id::text, ',') from (select nextval('task_ids') as id from generate_series(1, $1)) fresh`,
)

// Taken task keys; may include pairs of a project and a key that were not requested. $1 workspace, $2 projects, $3 keys.
export const takenKeys = statement(
  'taken_keys',
  `select project_id, key from tasks
    where workspace_id = $1 and project_id = any($2::int[]) and key = any($3::text[]) and key is not null`,
)

/** Agents whose claims are restricted; the index agents_bound has the same condition, word for word. */
const BOUND = `(b.max_concurrent_tasks is not null or b.leaving or b.state in ('paused', 'terminated'))`
export const boundAmong = (place: string) =>
  `array(select b.slug from agents b where b.workspace_id = $1 and b.slug = any(${place}::text[]) and ${BOUND})`
export const workersAmong = (place: string) =>
  `array(select w.session from sessions w where w.workspace_id = $1 and w.session = any(${place}::text[]) and w.capacity is not null)`

// Declared tracks, locked in one order. $1 workspace, $2 projects, $3 tracks.
export const lockTracks = statement(
  'lock_tracks',
  `select project_id, track, max_agents from tracks
    where workspace_id = $1 and project_id = any($2::int[]) and track = any($3::text[])
    order by project_id, track for no key update`,
)

// Agents on these tracks, read after their lock. The same arguments.
export const onTracks = statement(
  'on_tracks',
  `select project_id, track, agent, count(*) from track_claims
    where workspace_id = $1 and project_id = any($2::int[]) and track = any($3::text[]) group by project_id, track, agent`,
)

// Stored replies for these idempotency keys. $1 workspace, $2 keys.
export const storedReplies = statement(
  'stored_replies',
  `select key, body_hash, reply from idempotency_keys where workspace_id = $1 and key = any($2::text[])`,
)

// The open ones among these terms, which only the newest can be. A successor waits until this transaction ends; renewals do
// not. A node that stops in the middle is disconnected after the length of its lease, so that no node waits longer. $1
// terms.
export const keepTerms = statement(
  'keep_terms',
  `select term, ms(expires_at), set_config('idle_in_transaction_session_timeout',
          (ms(expires_at) - ms(renewed_at))::text, true)
     from leader_leases
    where workspace_id = 0 and role = 'coordinator' and term = any($1::int[]) and ended_at is null for key share`,
)

const STATE = `ms(clock_timestamp()), c.active_claims, exists (select from budgets b where b.workspace_id = c.workspace_id), l.min_lease_seconds, l.max_lease_seconds, l.max_concurrent_claims,
          l.max_generations_per_task, l.max_result_bytes, l.late_results, l.max_active_sessions,
          l.claim_history_retention_days, l.assign_timeout_seconds, l.stall_timeout_seconds, l.verify_timeout_seconds,
          l.hang_grace_seconds, l.hang_abort_seconds, l.queue_order, l.branch_retention_days, l.time_zone`
const OF_WORKSPACE = 'from workspace_counters c join limits l using (workspace_id) where c.workspace_id = $1'

// The clock, read in a separate statement after the locks, and the limits at that time. $1 workspace.
export const workspaceState = statement('workspace_state', `select ${STATE} ${OF_WORKSPACE}`)

// The same, and whether any of those that claim must be locked: workers and restricted agents. Most batches have none, and
// need no other statement about their callers. $1 workspace, $2 sessions, $3 agents.
export const workspaceStateForClaims = statement(
  'workspace_state_for_claims',
  `select ${STATE}, cardinality(${workersAmong('$2')}) + cardinality(${boundAmong('$3')}) > 0 ${OF_WORKSPACE}`,
)

type Values = readonly (readonly unknown[])[]

/** Statements over rows have a few forms, by which columns are the same in all rows; each form is built once. */
export function overRows(
  name: string,
  columns: readonly Column[],
  before: number,
  write: (rows: Rows) => string,
) {
  const forms = new Map<string, Statement>()
  return (first: readonly unknown[], values: Values): Bound => {
    const rows = asRows(columns, values, before + 1)
    let form = forms.get(rows.form)
    if (!form) {
      form = statement(`${name}_${BigInt(`0b${rows.form}`).toString(36)}`, write(rows))
      forms.set(rows.form, form)
    }
    return [form, [...first, ...rows.values]]
  }
}

export function insertInto(table: string, columns: readonly Column[], after = '', name = `insert_${table}`) {
  const names = columns.map(({ name }) => name)
  const insert = overRows(name, columns, 1, ({ of, from }) => {
    const expressions = names.map((name) => of[name])
    return `insert into ${table} (workspace_id, ${names.join(', ')}) select $1, ${expressions.join(', ')} from ${from} ${after}`
  })
  return (workspaceId: number, values: Values) => insert([workspaceId], values)
}

// Changed tasks: ids, then these columns, and what follows from the row as it was. The ids are given twice, so that the rows are
// found by id whatever the planner estimates.
export function updateTasks(name: string, columns: readonly Column[], derived: readonly string[] = []) {
  const update = overRows(name, [{ name: 'id', type: 'bigint' }, ...columns], 1, ({ of, from }) => {
    const sets = columns.map((column) => `${column.name} = ${of[column.name]}`)
    return `update tasks t set ${[...sets, ...derived].join(', ')} from ${from}
      where t.workspace_id = $1 and t.id = any($2::bigint[]) and t.id = u.id`
  })
  return (workspaceId: number, values: Values) => update([workspaceId], values)
}

// New tasks, with their details and dependencies.
export const insertTasks = (columns: readonly Column[]) => insertInto('tasks', columns)
export const insertDetails = insertInto(
  'task_details',
  columnsOf({
    task_id: 'bigint',
    title: 'text',
    task_type: 'text',
    description: 'text',
    input: 'json',
    tags: 'texts',
    user_ref: 'text',
    metadata: 'json',
    created_by: 'text',
    plan: 'json',
  }),
)
export const insertDependencies = insertInto(
  'task_dependencies',
  columnsOf({
    task_id: 'bigint',
    depends_on: 'bigint',
    trigger_rule: 'text',
    kind: 'text',
    counted_version: 'int',
    outcome: 'text',
  }),
)

// The earlier dependencies of tasks that get others. $1 workspace, $2 tasks.
export const dropDependencies = statement(
  'drop_dependencies',
  'delete from task_dependencies where workspace_id = $1 and task_id = any($2::bigint[])',
)

// Dependencies that tasks no longer have. $1 workspace, $2 tasks, $3 what they depended on.
export const removeDependencies = statement(
  'remove_dependencies',
  `delete from task_dependencies d using unnest($2::bigint[], $3::bigint[]) as e(task_id, depends_on)
    where d.workspace_id = $1 and d.task_id = e.task_id and d.depends_on = e.depends_on`,
)

// Dependencies, read after the locks of their tasks. Each is found by its key (offset 0): all those of a task may be
// thousands. $1 workspace, $2 tasks, $3 what they depend on.
export const dependenciesOf = statement(
  'dependencies_of',
  `select d.task_id, d.depends_on, d.trigger_rule, d.counted_version, d.outcome
     from unnest($2::bigint[], $3::bigint[]) as e(task_id, depends_on) cross join lateral (
       select * from task_dependencies k
        where k.workspace_id = $1 and k.task_id = e.task_id and k.depends_on = e.depends_on offset 0) d`,
)

// What dependencies contributed. They all exist; a conflict finds each by its key, whatever the planner estimates, where an
// update could read all dependencies of the workspace.
export const recountDependencies = insertInto(
  'task_dependencies',
  columnsOf({
    task_id: 'bigint',
    depends_on: 'bigint',
    trigger_rule: 'text',
    counted_version: 'int',
    outcome: 'text',
  }),
  `on conflict (workspace_id, task_id, depends_on)
     do update set counted_version = excluded.counted_version, outcome = excluded.outcome`,
  'recount_dependencies',
)

// Some details of one task. $1 workspace, $2 task, then the columns.
export const updateDetails = (columns: readonly string[]): Statement =>
  statement(
    // Postgres tells statements apart by the first 63 characters of their names.
    `update_details_${hash('md5', columns.join())}`,
    `update task_details set ${columns.map((name, i) => `${name} = $${i + 3}`).join(', ')} where workspace_id = $1 and task_id = $2`,
  )

// Agents that start work on a track, and agents that leave it.
export const enterTracks = insertInto(
  'track_claims',
  columnsOf({ task_id: 'bigint', project_id: 'int', track: 'text', agent: 'text' }),
)
// $1 workspace, $2 tasks.
export const leaveTracks = statement(
  'leave_tracks',
  `delete from track_claims where workspace_id = $1 and task_id = any($2::bigint[])`,
)

// Replies, to be returned again under the same idempotency key.
export const insertReplies = insertInto(
  'idempotency_keys',
  columnsOf({ key: 'text', body_hash: 'text', reply: 'json' }),
)

const EVENT = columnsOf({
  payload: 'json',
  type: 'text',
  task_id: 'bigint',
  mission_id: 'bigint',
  generation: 'int',
  task_version: 'int',
  from_state: 'text',
  to_state: 'text',
  actor: 'text',
  at: 'instant',
})
const FIRST_COUNT = 5
const COUNTED = taskStates
  .map((state, place) => `${state} = ${state} + $${FIRST_COUNT + place}::int`)
  .join(', ')
const AFTER_COUNTS = FIRST_COUNT + taskStates.length
const eventsAppended = (name: string, before: number, check: string) =>
  overRows(
    name,
    EVENT,
    before,
    ({ of, from }) =>
      `with counter as (
       update workspace_counters set last_seq = last_seq + $2::int, active_claims = case
           when $3::int > 0 and active_claims + $3::int > $4::int then refuse_claims_over_limit()
           else active_claims + $3::int end, ${COUNTED}
        where workspace_id = $1 returning last_seq, last_seq - $2::int as base${check}),
     appended as (
       insert into events (workspace_id, seq, ${EVENT.map(({ name }) => name).join(', ')})
       select $1, counter.base + u.ord, ${EVENT.map(({ name }) => of[name]).join(', ')} from counter, ${from})
     select last_seq from counter`,
  )
// The events, numbered without gaps, and the number of the last one. Last of all: the counter's row is locked from here to commit, and no longer.
// $1 workspace, $2 how many, $3 change in active claims, $4 the maximum number of claims, then the changes in the numbers of
// tasks by state, then the columns.
export const appendEvents = eventsAppended('append_events', AFTER_COUNTS - 1, '')
// The same, once it is checked under the counter's lock that nothing restricts these agents by now: the last before the columns.
export const appendEventsOfClaims = eventsAppended(
  'append_events_of_claims',
  AFTER_COUNTS,
  `, refuse_claims_of_bound_agents($1, $${AFTER_COUNTS}::text[])`,
)
