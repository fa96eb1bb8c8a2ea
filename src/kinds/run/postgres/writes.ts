import { arrayLiteral } from '../../../postgres/statements/rows.ts'
import { type Bound, insertReplies, statement } from '../../../postgres/statements/statements.ts'
import { usageWrites } from '../../usage/postgres/writes.ts'
import type { NewRunEvent, RunsChanges } from '../rules/step.ts'
import { runRows, runtimeRows, sessionRows, wakeupRows } from './rows.ts'

/** All changes as statements: wakeups before the runs and sessions that name them. */
export const writesOf = (workspaceId: number, changes: RunsChanges): Bound[] => [
  ...(changes.newWakeups.length > 0 ? [wakeupRows.insert(workspaceId, changes.newWakeups)] : []),
  ...changes.wakeups.map(({ id, set }) => wakeupRows.update(workspaceId, id, set)),
  ...changes.newRuns.map((run) => runRows.insert(workspaceId, [run])),
  ...changes.runs.map(({ id, set }) => runRows.update(workspaceId, id, set)),
  ...changes.runtime.map(({ id, set }) => runtimeRows.update(workspaceId, id, set)),
  ...changes.deletedSessions.map(
    ({ agent, taskKey }): Bound => [deleteSessions, [workspaceId, agent, taskKey]],
  ),
  ...changes.sessions.map((session) => sessionRows.upsert(workspaceId, [session])),
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
    ({ taskId, tokens, usd, runs, unknownRuns, notionalUsd }): Bound => [
      spend,
      [workspaceId, taskId, tokens, usd, runs, unknownRuns, notionalUsd],
    ],
  ),
  ...usageWrites(workspaceId, changes.usage),
  ...changes.newReplies.map(({ key, bodyHash, reply }) =>
    insertReplies(workspaceId, [[key], [bodyHash], [JSON.stringify(reply)]]),
  ),
]

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

// What a task cost, added to the totals of its mission. $2 task, $3 tokens, $4 dollars, $5 runs, $6 those without a known cost,
// $7 dollars that are not paid by use.
const spend = statement(
  'spend_in_mission',
  `update mission_counters c set tokens = greatest(0, c.tokens + $3::bigint), usd = greatest(0, c.usd + coalesce($4::numeric, 0)),
      runs = c.runs + $5::int, unknown_runs = c.unknown_runs + $6::int,
      notional_usd = greatest(0, c.notional_usd + $7::numeric) from tasks t
    where t.workspace_id = $1 and t.id = $2 and c.workspace_id = $1 and c.mission_id = t.mission_id`,
)
