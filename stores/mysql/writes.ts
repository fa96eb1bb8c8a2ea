import { foldRecounted } from '../../src/kernel/store/fold-changes.ts'
import type { Changes, View } from '../../src/kernel/store/portable.ts'
import { countsAsActive } from '../../src/kinds/session/rules.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import { insert, remove, type Update, update } from './bulk.ts'
import { rowOfRecord, rowOfSession, SESSION_COLUMNS, TASK_COLUMNS } from './columns.ts'
import type { Queues } from './queues.ts'
import { Sql, sql } from './sql.ts'
import { claimsWritten } from './write-claims.ts'
import { detailsWritten, newDetails } from './write-details.ts'
import { resultsWritten } from './write-results.ts'
import type { Writing } from './writing.ts'

/** All changes as statements, in the order they must be written: tasks before what refers to them, events last. */
export async function writesOf(writing: Writing, queues: Queues): Promise<Sql[]> {
  const { changes } = writing
  return [
    ...newTasks(writing),
    ...changedTasks(writing),
    ...dependencies(writing),
    ...(await queueMoves(writing, queues)),
    ...claimsWritten(writing),
    ...resultsWritten(writing),
    ...detailsWritten(writing),
    ...sessions(writing),
    ...insert(
      'baton_replies',
      ['workspace_id', 'idempotency_key', 'body_hash', 'reply', 'created_at'],
      changes.newReplies.map(({ key, bodyHash, reply }) => [
        writing.workspaceId,
        key,
        bodyHash,
        JSON.stringify(reply),
        writing.view.now,
      ]),
    ),
    ...countersMoved(writing),
    ...eventsAppended(writing),
  ]
}

function newTasks({ workspaceId, changes }: Writing): Sql[] {
  const rows = changes.created.map(({ record }) => [workspaceId, ...rowOfRecord(record)])
  return [
    ...insert('baton_tasks', ['workspace_id', ...TASK_COLUMNS], rows),
    ...newDetails(workspaceId, changes.created),
  ]
}

/** Grouped by target state, as tasks with the same transition have most columns in common. */
function changedTasks({ isMariadb, workspaceId, view, changes }: Writing): Sql[] {
  const groups = new Map<string, { before: unknown[][]; after: unknown[][] }>()
  for (const task of changes.tasks) {
    const group = groups.get(task.state) ?? { before: [], after: [] }
    groups.set(task.state, group)
    group.before.push(rowOfRecord(view.records.get(task.id)!))
    group.after.push(rowOfRecord(task))
  }
  const tasks = { table: 'baton_tasks', workspaceId, columns: TASK_COLUMNS }
  return [...groups.values()].flatMap(({ before, after }) => updateChanged(isMariadb, tasks, before, after))
}

/** Only the columns that changed in any of the rows. The first column is the key. */
function updateChanged(
  isMariadb: boolean,
  { table, workspaceId, columns }: Pick<Update, 'table' | 'workspaceId' | 'columns'>,
  before: readonly unknown[][],
  after: readonly unknown[][],
): Sql[] {
  const places = columns
    .map((_, at) => at)
    .filter((at) => after.some((values, i) => values[at] !== before[i]![at]))
  return update(isMariadb, {
    table,
    workspaceId,
    key: [columns[0]!],
    columns: places.map((at) => columns[at]!),
    rows: after.map((values) => [values[0], ...places.map((at) => values[at])]),
  })
}

function dependencies({ isMariadb, workspaceId, view, changes }: Writing): Sql[] {
  const counts = ['counted_version', 'outcome']
  const added = changes.dependencies.map((one, place) => [
    ...[workspaceId, one.taskId, one.dependsOn, one.dependsOnUuid, one.rule, one.kind, view.now, place],
    ...[one.countedVersion, one.outcome],
  ])
  const columns = ['task_id', 'depends_on', 'depends_on_uuid', 'trigger_rule', 'kind', 'added_at', 'place']
  return [
    ...remove(isMariadb, {
      table: 'baton_task_dependencies',
      workspaceId,
      key: ['task_id', 'depends_on'],
      rows: changes.removed.map(({ taskId, dependsOn }) => [taskId, dependsOn]),
    }),
    ...insert('baton_task_dependencies', ['workspace_id', ...columns, ...counts], added),
    ...update(isMariadb, {
      table: 'baton_task_dependencies',
      workspaceId,
      key: ['task_id', 'depends_on'],
      columns: counts,
      rows: foldRecounted(changes).map(({ taskId, dependsOn, countedVersion, outcome }) => [
        ...[taskId, dependsOn, countedVersion, outcome],
      ]),
    }),
  ]
}

/** Tasks that leave the queue, enter it or change their place in it. */
async function queueMoves(
  { isMariadb, workspaceId, view, changes }: Writing,
  queues: Queues,
): Promise<Sql[]> {
  const leaving: TaskRecord[] = []
  const coming = changes.created.map(({ record }) => record).filter(({ rank }) => rank !== null)
  for (const task of changes.tasks) {
    const before = view.records.get(task.id)!
    if (before.rank === task.rank && before.onlyAgent === task.onlyAgent) continue
    if (before.rank !== null) leaving.push(before)
    if (task.rank !== null) coming.push(task)
  }
  if (leaving.length === 0 && coming.length === 0) return []
  const numbers = await queues.numbersOf(workspaceId, [...leaving, ...coming])
  const places = [...leaving, ...coming].map(({ rank, id }, i) => [numbers[i]!, rank, id])
  const key = ['queue_id', 'queue_rank', 'task_id']
  const left = places.slice(0, leaving.length)
  const joined = places.slice(leaving.length).map((place) => [workspaceId, ...place])
  return [
    ...remove(isMariadb, { table: 'baton_waiting', workspaceId, key, rows: left }),
    ...insert('baton_waiting', ['workspace_id', ...key], joined),
  ]
}

/** A new session is only inserted: of two nodes that open it at the same time, one must read again. */
function sessions({ isMariadb, workspaceId, view, changes }: Writing): Sql[] {
  const added: unknown[][] = []
  const before: unknown[][] = []
  const after: unknown[][] = []
  for (const record of changes.kinds.session.written) {
    const known = view.kinds.session.seen.get(record.name)
    if (!known) added.push([workspaceId, ...rowOfSession(record)])
    else {
      before.push(rowOfSession(known.record))
      after.push(rowOfSession(record))
    }
  }
  const known = { table: 'baton_sessions', workspaceId, columns: SESSION_COLUMNS }
  return [
    ...insert('baton_sessions', ['workspace_id', ...SESSION_COLUMNS], added),
    ...updateChanged(isMariadb, known, before, after),
  ]
}

/**
 * The counter's row is locked from here to commit, and no longer. Two nodes may both see room for the last claim or session:
 * for the second there is none, and the null written then fails the transaction.
 */
function countersMoved({ workspaceId, view, changes }: Writing): Sql[] {
  const { events, activeClaimsDelta: claims } = changes
  const { maxConcurrentClaims, maxActiveSessions } = view.limits
  const sessions = activeSessionsDelta(view, changes)
  if (events.length === 0 && claims === 0 && sessions === 0) return []
  const moved = (column: string, by: number, most: number) => {
    const name = new Sql(column)
    if (by <= 0) return sql`${name} = ${name} + (${by})`
    return sql`${name} = if(${name} + ${by} > ${most}, null, ${name} + ${by})`
  }
  return [
    sql`update baton_counters set last_seq = last_insert_id(last_seq + ${events.length}),
               ${moved('active_claims', claims, maxConcurrentClaims)},
               ${moved('active_sessions', sessions, maxActiveSessions)}
         where workspace_id = ${workspaceId}`,
  ]
}

const activeSessionsDelta = (view: View, { kinds }: Changes) =>
  kinds.session.written.reduce((sum, record) => {
    const before = view.kinds.session.seen.get(record.name)?.record ?? null
    return sum + Number(countsAsActive(record)) - Number(countsAsActive(before))
  }, 0)

/** Numbered without gaps: backwards from the counter. */
function eventsAppended({ workspaceId, changes: { events } }: Writing): Sql[] {
  const columns = [
    'workspace_id',
    'seq',
    'type',
    'task_id',
    'generation',
    'from_state',
    'to_state',
    'actor',
    'payload',
    'at',
  ]
  return insert(
    'baton_events',
    columns,
    events.map(({ type, taskId, generation, from, to, actor, payload, at }, i) => [
      workspaceId,
      new Sql(`last_insert_id() - ${events.length - 1 - i}`),
      type,
      taskId,
      generation,
      from,
      to,
      actor,
      JSON.stringify(payload),
      at,
    ]),
  )
}
