import type pg from 'pg'
import { keyName, type NewKey } from '../../../kernel/batch/requests.ts'
import type {
  Reader,
  StoredClaim,
  StoredDependency,
  StoredResult,
  StoredTask,
} from '../../../kernel/store/store.ts'
import { readRecord, readSession, sessionColumns, taskColumns } from '../../../postgres/statements/columns.ts'
import { readPayload } from '../../../postgres/statements/event-payloads.ts'
import { LAST_SEQ } from '../../../postgres/statements/log-head.ts'
import {
  bytesOfJson,
  bytesOfText,
  fittingKeys,
  fittingPage,
  MORE,
  type PageOf,
} from '../../../postgres/statements/pages.ts'
import { arrayLiteral } from '../../../postgres/statements/rows.ts'
import { plannedOnce, scopedQueries, scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import type { StoredEvent } from '../../events.ts'
import type { Limits } from '../../workspace/limits.ts'
import { readLimitsOf } from '../../workspace/postgres.ts'
import type { TaskDetails } from '../command.ts'
import type { EventWithTask, SessionRecord, TaskRecord } from '../record.ts'
import {
  ALL_LARGE,
  DETAILS_WIDTH,
  dependsOn,
  LARGE_DETAILS,
  type LargeDetail,
  ownDetails,
  questionsFor,
  readDetails,
} from './details.ts'
import { resultsOf } from './result-pages.ts'
import { conditionOf, TASKS_WITH_DETAILS, type TaskSearch } from './search.ts'

type Row = unknown[]

const UUID_LENGTH = 36

/** What never changes of a task is not in its events. UUID and purpose are one text: its row is looked up once. */
export const EVENT_COLUMNS = `e.seq, e.type, e.task_id, e.generation, e.task_version, e.from_state, e.to_state, e.actor, e.payload, ms(e.at),
  (select t.uuid::text || t.purpose from tasks t where t.workspace_id = e.workspace_id and t.id = e.task_id),
  case when e.mission_id is not null then (select (d.plan ->> 'sequenceNumber')::int from task_details d
    where d.workspace_id = e.workspace_id and d.task_id = e.task_id) end,
  e.mission_id, (select m.uuid from missions m where m.workspace_id = e.workspace_id and m.mission_id = e.mission_id),
  case when e.type = 'task_completed' then (select t.key from tasks t where t.workspace_id = e.workspace_id and t.id = e.task_id) end`

const rowsOf = (pool: pg.Pool, workspaceId: number, text: string, values: unknown[]) =>
  scopedQuery<Row>(pool, 'baton.workspace_id', String(workspaceId), { text, values, rowMode: 'array' })

/** Reads see one workspace, like writes: set in the transaction, enforced by row-level security. */
export class PostgresReader implements Reader {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  query(workspaceId: number, text: string, values: unknown[]): Promise<Row[]> {
    return rowsOf(this.#pool, workspaceId, text, values)
  }

  async #byId(workspaceId: number, name: string, text: string, ids: readonly number[]): Promise<Row[]> {
    const values = [workspaceId, arrayLiteral(ids)]
    return (await plannedOnce<Row>(this.#pool, workspaceId, [{ name, text, values, rowMode: 'array' }]))[0]!
  }

  async task(workspaceId: number, taskId: number): Promise<StoredTask | null> {
    return (await this.tasksById(workspaceId, [taskId]))[0] ?? null
  }

  /** The given tasks that exist, in the given order. */
  async tasksById(workspaceId: number, taskIds: readonly number[]): Promise<StoredTask[]> {
    const rows = await this.#byId(workspaceId, 'tasks_by_id', TASKS_BY_ID, taskIds)
    const found = new Map(rows.map(readTask).map((task) => [task.record.id, task]))
    return taskIds.map((id) => found.get(id)).filter((task) => task !== undefined)
  }

  /** The given tasks that exist, in the given order, without their details. */
  async recordsById(workspaceId: number, taskIds: readonly number[]): Promise<TaskRecord[]> {
    const rows = await this.#byId(workspaceId, 'records_by_id', RECORDS_BY_ID, taskIds)
    const found = new Map(rows.map(readRecord).map((record) => [record.id, record]))
    return taskIds.map((id) => found.get(id)).filter((record) => record !== undefined)
  }

  /** The details of tasks whose records are already read. */
  async detailsOf(workspaceId: number, records: readonly TaskRecord[]): Promise<TaskDetails[]> {
    const { statements, read } = questionsFor(workspaceId, records)
    const answers = await scopedQueries<Row>(
      this.#pool,
      'baton.workspace_id',
      String(workspaceId),
      statements.map(([statement, values]) => ({ ...statement, values, rowMode: 'array' })),
    )
    return read(answers)
  }

  async tasksByKey(workspaceId: number, keys: readonly NewKey[]): Promise<TaskRecord[]> {
    const names = new Set(keys.map(({ projectId, key }) => keyName(projectId, key)))
    const rows = await this.query(
      workspaceId,
      `select ${taskColumns('t')} from tasks t
        where t.workspace_id = $1 and t.project_id = any($2::int[]) and t.key = any($3::text[]) and t.key is not null`,
      [workspaceId, [...new Set(keys.map(({ projectId }) => projectId))], keys.map(({ key }) => key)],
    )
    return rows.map(readRecord).filter(({ projectId, key }) => names.has(keyName(projectId, key!)))
  }

  async tasks(workspaceId: number, filter: TaskSearch, limit: number): Promise<StoredTask[]> {
    const { where, values } = conditionOf(workspaceId, filter)
    const rows = await this.query(
      workspaceId,
      `${SELECT_TASKS} where ${where} order by t.id desc limit $${values.length + 1}`,
      [...values, limit],
    )
    return rows.map(readTask)
  }

  async records(workspaceId: number, filter: TaskSearch, limit: number): Promise<TaskRecord[]> {
    const { where, values } = conditionOf(workspaceId, filter)
    const rows = await this.query(
      workspaceId,
      `select ${taskColumns('t')} ${TASKS_WITH_DETAILS} where ${where} order by t.id desc limit $${values.length + 1}`,
      [...values, limit],
    )
    return rows.map(readRecord)
  }

  async claims(workspaceId: number, taskId: number): Promise<StoredClaim[]> {
    const rows = await this.query(
      workspaceId,
      `select generation, session, agent, state, ms(acquired_at), ms(ended_at), end_reason
         from attempts where workspace_id = $1 and task_id = $2 and acquired_at is not null
       union all
       select generation, session, agent, claim_state, ms(acquired_at), null, null
         from tasks where workspace_id = $1 and id = $2 and claim_state = 'active'
       order by generation`,
      [workspaceId, taskId],
    )
    return rows.map(
      ([generation, session, agent, state, acquiredAt, endedAt, endReason]) =>
        ({ generation, session, agent, state, acquiredAt, endedAt, endReason }) as StoredClaim,
    )
  }

  async results(workspaceId: number, taskId: number): Promise<StoredResult[]> {
    const rows = await this.query(
      workspaceId,
      `select generation, epoch, session, agent, accepted, rejection, ref, hash, data, summary, commit, processing_ms, ms(submitted_at)
         from (${resultsOf('$2')}) r order by submitted_at, generation`,
      [workspaceId, taskId],
    )
    return rows.map(
      ([
        generation,
        epoch,
        session,
        agent,
        accepted,
        rejection,
        ref,
        hash,
        data,
        summary,
        commit,
        processingMs,
        submittedAt,
      ]) =>
        ({
          generation,
          epoch,
          session,
          agent,
          accepted,
          rejection,
          ref,
          hash,
          data,
          summary,
          commit,
          processingMs,
          submittedAt,
        }) as StoredResult,
    )
  }

  async events(workspaceId: number, after: number, limit: number): Promise<EventWithTask[]> {
    const rows = await this.query(
      workspaceId,
      // The page first, then the UUIDs of its tasks: joined the other way round, a new table without statistics is scanned
      // for every event.
      `with e as materialized (
         select * from events where workspace_id = $1 and seq > $2 order by seq limit $3)
       select ${EVENT_COLUMNS} from e order by e.seq`,
      [workspaceId, after, limit],
    )
    return rows.map(readEvent)
  }

  async session(workspaceId: number, name: string): Promise<SessionRecord | null> {
    const rows = await this.query(
      workspaceId,
      `select ${sessionColumns('s')} from sessions s where s.workspace_id = $1 and s.session = $2`,
      [workspaceId, name],
    )
    return rows[0] ? readSession(rows[0]) : null
  }

  async sessions(workspaceId: number, { workersOnly, limit }: { workersOnly: boolean; limit: number }) {
    const rows = await this.query(
      workspaceId,
      `select ${sessionColumns('s')} from sessions s where s.workspace_id = $1 and (not $2 or s.capacity is not null)
        order by s.started_at desc, s.session limit $3`,
      [workspaceId, workersOnly, limit],
    )
    return rows.map(readSession)
  }

  limits(workspaceId: number): Promise<Limits> {
    return readLimitsOf(this.#pool, workspaceId)
  }

  async counts(workspaceId: number) {
    const [row] = await this.query(
      workspaceId,
      `select active_claims,
              (select count(*) from sessions s where s.workspace_id = $1 and s.declared and s.ended_at is null)
         from workspace_counters where workspace_id = $1`,
      [workspaceId],
    )
    const [activeClaims, activeSessions] = row as [number, number]
    return { activeClaims, activeSessions }
  }

  async lastSeq(workspaceId: number): Promise<number> {
    const rows = await this.query(workspaceId, `select ${LAST_SEQ}`, [workspaceId])
    return (rows[0]?.[0] as number) ?? 0
  }

  async dependencies(workspaceId: number, taskId: number): Promise<StoredDependency[]> {
    const rows = await this.query(
      workspaceId,
      `select t.uuid, t.state, t.version, d.trigger_rule, d.kind, d.counted_version, d.outcome from task_dependencies d
         join tasks t on t.workspace_id = d.workspace_id and t.id = d.depends_on
        where d.workspace_id = $1 and d.task_id = $2 order by d.depends_on`,
      [workspaceId, taskId],
    )
    return rows.map(
      ([uuid, state, version, triggerRule, kind, countedVersion, outcome]) =>
        ({ uuid, state, version, triggerRule, kind, countedVersion, outcome }) as StoredDependency,
    )
  }
}

/** As large as a response may be; large fields only on request. */
export async function pageOfTasks(
  pool: pg.Pool,
  workspaceId: number,
  filter: TaskSearch,
  limit: number,
  include: ReadonlySet<LargeDetail>,
): Promise<PageOf<StoredTask>> {
  const { where, values } = conditionOf(workspaceId, filter)
  const large = LARGE_DETAILS.filter((name) => include.has(name)).map(
    (name) => ` + ${bytesOfJson(`d.${name}`)}`,
  )
  const rows = await rowsOf(
    pool,
    workspaceId,
    `${fittingPage({
      keys: `select row_number() over (order by t.id desc) as n, t.id ${TASKS_WITH_DETAILS}
              where ${where} order by t.id desc limit ${limit + 1}`,
      columns: ['id'],
      bytes: `select ${SMALL_DETAILS_BYTES}${large.join('')} from task_details d where d.workspace_id = $1 and d.task_id = l.id`,
      limit,
    })}
     ${selectTasks(include, `${MORE}, `)} where t.workspace_id = $1 and t.id = ${fittingKeys('id')}
        and d.workspace_id = $1 and d.task_id = ${fittingKeys('id')} order by t.id desc`,
    values,
  )
  return { rows: rows.map((row) => readTask(row.slice(1))), more: rows[0]?.[0] === true }
}

/** In a response: the record, which is about as long for all tasks, and fields of any length. */
const SMALL_DETAILS_BYTES = `1500 + ${bytesOfText('d.title', 'd.description', 'd.error', 'd.progress_step', 'd.waits_because')}
   + ${bytesOfJson('d.metadata')} + ${bytesOfJson('d.question')} + pg_column_size(d.tags)
   + 39 * (select count(*) from task_dependencies x where x.workspace_id = $1 and x.task_id = l.id)`
const OF_OTHERS = `
   (select p.slug from projects p where p.workspace_id = t.workspace_id and p.project_id = t.project_id and t.project_id <> 0),
   (select u.uuid from tasks u where u.workspace_id = t.workspace_id and u.id = t.parent_id),
   (select m.uuid from missions m where m.workspace_id = t.workspace_id and m.mission_id = t.mission_id)`
const selectTasks = (
  include: ReadonlySet<LargeDetail>,
  before = '',
  from = TASKS_WITH_DETAILS,
) => `select ${before}${taskColumns('t')}, ${ownDetails(include)}, ${OF_OTHERS},
    ${dependsOn('t.workspace_id', 't.id')}
  ${from}`
const SELECT_TASKS = selectTasks(ALL_LARGE)
// Both tables are read once for each id, whatever the planner estimates: joined, ten thousand ids were compared with ten thousand rows.
const TASKS_BY_ID = selectTasks(
  ALL_LARGE,
  '',
  `from unnest($2::bigint[]) as wanted(id)
     cross join lateral (select * from tasks where workspace_id = $1 and id = wanted.id offset 0) t
     cross join lateral (select * from task_details where workspace_id = $1 and task_id = wanted.id offset 0) d`,
)
const RECORDS_BY_ID = `select ${taskColumns('t')} from tasks t where t.workspace_id = $1 and t.id = any($2::bigint[])`

function readTask(row: Row): StoredTask {
  const record = readRecord(row)
  return { record, details: readDetails(row.slice(-DETAILS_WIDTH)) }
}

export function readEvent(row: Row): EventWithTask {
  const [seq, type, taskId, generation, version, from, to, actor, stored, at, task, number, ...others] = row
  const [missionId, missionUuid, key] = others
  const known = task as string | null
  const taskUuid = known?.slice(0, UUID_LENGTH) ?? null
  const event = { seq, type, taskId, missionId, generation, version, from, to, actor, at } as EventWithTask
  return {
    ...event,
    payload: readPayload(event, stored as StoredEvent['payload'], (key as string | null) ?? taskUuid),
    taskUuid,
    purpose: known?.slice(UUID_LENGTH) ?? null,
    ...{ number, missionUuid },
  } as EventWithTask
}
