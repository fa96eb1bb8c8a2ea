import type { Column } from '../../../postgres/statements/columns.ts'
import { arrayLiteral } from '../../../postgres/statements/rows.ts'
import {
  type Bound,
  insertInto,
  insertReplies,
  type Statement,
  statement,
} from '../../../postgres/statements/statements.ts'
import type { RunRecord, WakeupRecord } from '../record.ts'
import type { FieldsOf, NewRunEvent, RunsChanges } from '../rules/step.ts'
import { type Fields, parameter, RUN, RUNTIME, SESSION, sentValue, WAKEUP } from './rows.ts'

/** All changes as statements: wakeups before the runs and sessions that name them. */
export const writesOf = (workspaceId: number, changes: RunsChanges): Bound[] => [
  ...newWakeups(workspaceId, changes.newWakeups),
  ...changes.wakeups.map((one) => updated('wakeups', WAKEUP, 'id', workspaceId, one)),
  ...changes.newRuns.map((run) => inserted(workspaceId, run)),
  ...changes.runs.map((one) => updated('runs', RUN, 'id', workspaceId, one)),
  ...changes.runtime.map((one) => updated('agent_runtime_state', RUNTIME, 'agent', workspaceId, one)),
  ...changes.deletedSessions.map(
    ({ agent, taskKey }): Bound => [deleteSessions, [workspaceId, agent, taskKey]],
  ),
  ...changes.sessions.map((session): Bound => [storeSession, [workspaceId, ...valuesOf(SESSION, session)]]),
  ...changes.parked.map(({ credential, until }): Bound => [park, [workspaceId, credential, until]]),
  ...changes.told.map(({ runId, told }): Bound => [tell, [workspaceId, runId, JSON.stringify(told)]]),
  ...changes.calls.map(({ runId, call }): Bound => [keepCall, [workspaceId, runId, JSON.stringify(call)]]),
  ...changes.deletedTold.map((runId): Bound => [deleteTold, [workspaceId, runId]]),
  ...changes.timelines.map(({ runId, firstSeq, events }) =>
    addToTimeline(workspaceId, runId, firstSeq, events),
  ),
  ...changes.messages.map(
    ({ runId, number, message }): Bound => [
      addMessage,
      [workspaceId, runId, number, JSON.stringify(message)],
    ],
  ),
  ...changes.readMessages.map(({ runId, upTo }): Bound => [dropMessages, [workspaceId, runId, upTo]]),
  ...changes.spent.map(
    ({ taskId, tokens, usd, runs, unknownRuns }): Bound => [
      spend,
      [workspaceId, taskId, tokens, usd, runs, unknownRuns],
    ],
  ),
  ...changes.newReplies.map(({ key, bodyHash, reply }) =>
    insertReplies(workspaceId, [[key], [bodyHash], [JSON.stringify(reply)]]),
  ),
]

type Entries = [field: string, [column: string, kind: Column['type']]][]
const entriesOf = <T>(fields: Fields<T>) => Object.entries(fields) as Entries

const WAKEUP_ENTRIES = entriesOf(WAKEUP)
const insertWakeups = insertInto(
  'wakeups',
  WAKEUP_ENTRIES.map(([, [name, type]]) => ({ name, type })),
)

function newWakeups(workspaceId: number, wakeups: readonly WakeupRecord[]): Bound[] {
  if (wakeups.length === 0) return []
  const values = WAKEUP_ENTRIES.map(([field, [, kind]]) =>
    wakeups.map((wakeup) => sentValue(kind, wakeup[field as keyof WakeupRecord])),
  )
  return [insertWakeups(workspaceId, values)]
}

const valuesOf = <T extends object>(fields: Fields<T>, record: T) =>
  entriesOf(fields).map(([field, [, kind]]) => sentValue(kind, record[field as keyof T]))

const insertOf = <T>(table: string, fields: Fields<T>) => {
  const entries = entriesOf(fields)
  const places = entries.map(([, [, kind]], i) => parameter(kind, i + 2))
  return `insert into ${table} (workspace_id, ${entries.map(([, [column]]) => column).join(', ')}) values ($1, ${places.join(', ')})`
}

const insertRun = statement('insert_run', insertOf('runs', RUN))
const inserted = (workspaceId: number, run: RunRecord): Bound => [
  insertRun,
  [workspaceId, ...valuesOf(RUN, run)],
]

const NOT_REPLACED = ['agent', 'adapter_type', 'task_key', 'created_at']
const storeSession = statement(
  'store_task_session',
  `${insertOf('agent_task_sessions', SESSION)} on conflict (workspace_id, agent, adapter_type, task_key) do update set ${entriesOf(
    SESSION,
  )
    .map(([, [column]]) => column)
    .filter((column) => !NOT_REPLACED.includes(column))
    .map((column) => `${column} = excluded.${column}`)
    .join(', ')}`,
)

// $2 agent, $3 the key; null: all.
const deleteSessions = statement(
  'delete_task_sessions',
  `delete from agent_task_sessions where workspace_id = $1 and agent = $2 and ($3::text is null or task_key = $3)`,
)

// $2 credential, $3 until when.
const park = statement(
  'park_credential',
  `insert into parked_credentials (workspace_id, credential, until) values ($1, $2, to_timestamp($3::float8 / 1000))
   on conflict (workspace_id, credential) do update set until = greatest(parked_credentials.until, excluded.until)`,
)

// What a run is told. It begins once. $2 run, $3 what.
const tell = statement(
  'tell_run',
  'insert into run_invocations (workspace_id, run_id, told) values ($1, $2, $3)',
)

// How the agent of a run was called. $2 run, $3 the call.
const keepCall = statement(
  'keep_call_of_run',
  'update run_invocations set call = $3 where workspace_id = $1 and run_id = $2',
)

// What a run was told. $2 run.
const deleteTold = statement(
  'delete_told',
  'delete from run_invocations where workspace_id = $1 and run_id = $2',
)

// $2 run, $3 number of the first event, then the columns.
const insertRunEvents = statement(
  'insert_run_events',
  `insert into run_events (workspace_id, run_id, seq, event_type, stream, level, color, message, payload)
   select $1, $2, $3 + e.place - 1, e.type, e.stream, e.level, e.color, e.message, e.payload::json
     from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
       with ordinality as e(type, stream, level, color, message, payload, place)
   on conflict do nothing`,
)

const addToTimeline = (
  workspaceId: number,
  runId: string,
  firstSeq: number,
  events: readonly NewRunEvent[],
): Bound => {
  const columns = [
    events.map(({ type }) => type),
    events.map(({ stream }) => stream ?? null),
    events.map(({ level }) => level ?? null),
    events.map(({ color }) => color ?? null),
    events.map(({ message }) => message ?? null),
    events.map(({ payload }) => (payload === undefined ? null : JSON.stringify(payload))),
  ]
  return [insertRunEvents, [workspaceId, runId, firstSeq, ...columns.map(arrayLiteral)]]
}

// A message of an agent that answers later. $2 run, $3 number, $4 message.
const addMessage = statement(
  'add_run_message',
  'insert into run_messages (workspace_id, run_id, number, message) values ($1, $2, $3, $4)',
)

// Messages that are no longer needed. $2 run, $3 up to which.
const dropMessages = statement(
  'drop_run_messages',
  'delete from run_messages where workspace_id = $1 and run_id = $2 and number <= $3',
)

// What a task cost, added to the totals of its mission. $2 task, $3 tokens, $4 dollars, $5 runs, $6 those without a known cost.
const spend = statement(
  'spend_in_mission',
  `update mission_counters c set tokens = c.tokens + $3::bigint, usd = c.usd + coalesce($4::numeric, 0),
      runs = c.runs + $5::int, unknown_runs = c.unknown_runs + $6::int from tasks t
    where t.workspace_id = $1 and t.id = $2 and c.workspace_id = $1 and c.mission_id = t.mission_id`,
)

/** One for each set of fields that rules change together; there are few. */
const updates = new Map<string, Statement>()

/** A row that exists and is locked; only the fields that changed. */
function updated<T extends object>(
  table: string,
  fields: Fields<T>,
  key: keyof T & string,
  workspaceId: number,
  { id, set }: FieldsOf<T>,
): Bound {
  const entries = entriesOf(fields).filter(([field]) => field in set)
  const columns = entries.map(([, [column]]) => column)
  const name = `${table} ${columns.join(' ')}`
  let update = updates.get(name)
  if (!update) {
    const sets = entries.map(([, [column, kind]], i) => `${column} = ${parameter(kind, i + 3)}`)
    update = statement(
      `update_${table}_${updates.size}`,
      `update ${table} set ${sets.join(', ')} where workspace_id = $1 and ${fields[key][0]} = $2`,
    )
    updates.set(name, update)
  }
  const values = entries.map(([field, [, kind]]) => sentValue(kind, set[field as keyof T]))
  return [update, [workspaceId, id, ...values]]
}
