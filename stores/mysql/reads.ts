import type { NewKey } from '../../src/kernel/batch/requests.ts'
import type {
  Reader,
  StoredClaim,
  StoredDependency,
  StoredResult,
  StoredTask,
  TaskFilter,
} from '../../src/kernel/store/store.ts'
import type { StoredEvent } from '../../src/kinds/events.ts'
import type { TaskDetails } from '../../src/kinds/task/command.ts'
import type { SessionRecord, TaskRecord } from '../../src/kinds/task/record.ts'
import type { Limits } from '../../src/kinds/workspace/limits.ts'
import { inLists, tableOf } from './bulk.ts'
import {
  instantOrNull,
  NEWEST_CLAIM,
  RECORD_WIDTH,
  readRecord,
  readSession,
  SELECT_SESSION,
  SELECT_TASK,
  textOf,
  textOrNull,
} from './columns.ts'
import type { Pool, Row } from './connect.ts'
import { names, type Sql, sql } from './sql.ts'
import { LockStatements, SELECT_LIMITS } from './statements.ts'
import type { Server } from './transact.ts'
import { readLimits } from './workspace-state.ts'

const SELECT_DETAILS = names(
  [
    'title',
    'task_type',
    'description',
    'input',
    'tags',
    'user_id',
    'project',
    'parent',
    'error',
    'failure_class',
    'exhausted',
    'progress_percent',
    'progress_step',
    'checkpoint',
    'metadata',
    'created_by',
    'question',
    'waits_kind',
    'waits_since',
    'waits_because',
  ].map((name) => `d.${name}`),
)

const READS_OF_A_GAP = 10

/** Each statement names the workspace, and sees what is committed when it begins. */
export class MysqlReader implements Reader {
  readonly #pool: Pool
  readonly #isMariadb: boolean

  constructor(pool: Pool, { isMariadb }: Server) {
    this.#pool = pool
    this.#isMariadb = isMariadb
  }

  /** Looked up one by one, as in `LockStatements`. */
  #ids = (taskIds: readonly number[]) =>
    sql`${tableOf(
      this.#isMariadb,
      ['id'],
      taskIds.map((id) => [id]),
    )} v`

  async task(workspaceId: number, taskId: number): Promise<StoredTask | null> {
    return (await this.tasksById(workspaceId, [taskId]))[0] ?? null
  }

  async tasksById(workspaceId: number, taskIds: readonly number[]): Promise<StoredTask[]> {
    const found = new Map<number, StoredTask>()
    for (const list of inLists(taskIds)) {
      const rows = await this.#pool.rows(
        sql`select ${SELECT_TASK}, ${SELECT_DETAILS} from ${this.#ids(list)}
              straight_join baton_tasks t force index (primary) on t.workspace_id = ${workspaceId} and t.id = v.id
              straight_join baton_task_details d force index (primary)
                on d.workspace_id = t.workspace_id and d.task_id = t.id
              ${NEWEST_CLAIM}`,
      )
      const dependsOn = await this.#dependenciesOf(workspaceId, list)
      for (const one of rows) {
        const record = readRecord(one)
        const upstream = dependsOn.get(record.id) ?? []
        found.set(record.id, { record, details: readDetails(one.slice(RECORD_WIDTH), upstream) })
      }
    }
    return taskIds.flatMap((id) => found.get(id) ?? [])
  }

  async recordsById(workspaceId: number, taskIds: readonly number[]): Promise<TaskRecord[]> {
    return (await this.tasksById(workspaceId, taskIds)).map(({ record }) => record)
  }

  async records(workspaceId: number, filter: TaskFilter, limit: number): Promise<TaskRecord[]> {
    return (await this.tasks(workspaceId, filter, limit)).map(({ record }) => record)
  }

  async detailsOf(workspaceId: number, records: readonly TaskRecord[]): Promise<TaskDetails[]> {
    const found = new Map<number, TaskDetails>()
    for (const list of inLists(records.map(({ id }) => id))) {
      const rows = await this.#pool.rows(
        sql`select d.task_id, ${SELECT_DETAILS} from ${this.#ids(list)}
              straight_join baton_task_details d force index (primary)
                on d.workspace_id = ${workspaceId} and d.task_id = v.id`,
      )
      const dependsOn = await this.#dependenciesOf(workspaceId, list)
      for (const [id, ...details] of rows)
        found.set(id as number, readDetails(details, dependsOn.get(id as number) ?? []))
    }
    return records.map(({ id }) => found.get(id)!)
  }

  /** UUIDs of the dependencies of tasks, in the order they were added. */
  async #dependenciesOf(workspaceId: number, taskIds: readonly number[]): Promise<Map<number, string[]>> {
    const rows = await this.#pool.rows(
      sql`select x.task_id, x.depends_on_uuid from ${this.#ids(taskIds)}
            straight_join baton_task_dependencies x force index (primary)
              on x.workspace_id = ${workspaceId} and x.task_id = v.id order by x.added_at, x.place`,
    )
    const dependencies = new Map<number, string[]>()
    for (const [taskId, uuid] of rows as [number, string][]) {
      const list = dependencies.get(taskId)
      if (list) list.push(uuid)
      else dependencies.set(taskId, [uuid])
    }
    return dependencies
  }

  async tasksByKey(workspaceId: number, keys: readonly NewKey[]): Promise<TaskRecord[]> {
    const records: TaskRecord[] = []
    for (const list of inLists(keys)) {
      const statements = new LockStatements(this.#isMariadb, workspaceId)
      const rows = await this.#pool.rows(
        sql`select ${SELECT_TASK} from ${statements.tasksByKey(list)} ${NEWEST_CLAIM}`,
      )
      records.push(...rows.map(readRecord))
    }
    return records
  }

  async tasks(workspaceId: number, filter: TaskFilter, limit: number): Promise<StoredTask[]> {
    const rows = await this.#pool.rows(idsOf(workspaceId, filter, limit))
    return this.tasksById(
      workspaceId,
      rows.map(([id]) => id as number),
    )
  }

  async dependencies(workspaceId: number, taskId: number): Promise<StoredDependency[]> {
    const rows = await this.#pool.rows(
      sql`select x.depends_on_uuid, u.state, u.version, x.trigger_rule, x.kind, x.counted_version, x.outcome
            from baton_task_dependencies x force index (primary)
            straight_join baton_tasks u force index (primary)
              on u.workspace_id = x.workspace_id and u.id = x.depends_on
           where x.workspace_id = ${workspaceId} and x.task_id = ${taskId} order by x.added_at, x.place`,
    )
    return rows.map(
      ([uuid, state, version, triggerRule, kind, countedVersion, outcome]) =>
        ({ uuid, state, version, triggerRule, kind, countedVersion, outcome }) as StoredDependency,
    )
  }

  async claims(workspaceId: number, taskId: number): Promise<StoredClaim[]> {
    const rows = await this.#pool.rows(
      sql`select generation, session, agent, state, acquired_at, ended_at, end_reason from baton_claims
           where workspace_id = ${workspaceId} and task_id = ${taskId} order by generation`,
    )
    return rows.map(
      ([generation, session, agent, state, acquiredAt, endedAt, endReason]) =>
        ({
          generation,
          session: textOf(session),
          agent: textOf(agent),
          state,
          acquiredAt,
          endedAt: instantOrNull(endedAt),
          endReason: textOrNull(endReason),
        }) as StoredClaim,
    )
  }

  async results(workspaceId: number, taskId: number): Promise<StoredResult[]> {
    const rows = await this.#pool.rows(
      sql`select generation, epoch, session, agent, accepted, rejection, ref, hash, data, summary, submitted_at
            from baton_results where workspace_id = ${workspaceId} and task_id = ${taskId}
           order by submitted_at, generation`,
    )
    return rows.map(
      ([generation, epoch, session, agent, accepted, rejection, ref, hash, data, summary, submittedAt]) =>
        ({
          generation,
          epoch,
          session: textOf(session),
          agent: textOrNull(agent),
          accepted: accepted === null ? null : accepted === 1,
          rejection: textOrNull(rejection),
          ref,
          hash: textOf(hash),
          data: JSON.parse(data as string),
          summary,
          commit: null,
          processingMs: null,
          submittedAt,
        }) as StoredResult,
    )
  }

  async lastSeq(workspaceId: number): Promise<number> {
    const text = sql`select last_seq from baton_counters where workspace_id = ${workspaceId}`
    const [row] = await this.#pool.rows(text)
    return (row?.[0] as number) ?? 0
  }

  /**
   * MariaDB does not take a snapshot at one moment: it may show a transaction, and not one that committed before it. Read again,
   * it is there. The log has no gaps, so one that stays is not of that kind.
   */
  async events(workspaceId: number, after: number, limit: number): Promise<StoredEvent[]> {
    for (let tries = 1; ; tries++) {
      const page = await this.#eventPage(workspaceId, after, limit)
      if (tries === READS_OF_A_GAP || page.every(({ seq }, i) => seq === after + 1 + i)) return page
    }
  }

  async #eventPage(workspaceId: number, after: number, limit: number): Promise<StoredEvent[]> {
    const rows = await this.#pool.rows(
      sql`select seq, type, task_id, generation, from_state, to_state, actor, payload, at from baton_events
           where workspace_id = ${workspaceId} and seq > ${after} order by seq limit ${limit}`,
    )
    return rows.map(
      ([seq, type, taskId, generation, from, to, actor, payload, at]) =>
        ({
          seq,
          type: textOf(type),
          taskId,
          generation,
          from: textOrNull(from),
          to: textOrNull(to),
          actor: textOf(actor),
          payload: JSON.parse(payload as string),
          at,
        }) as StoredEvent,
    )
  }

  async session(workspaceId: number, name: string): Promise<SessionRecord | null> {
    const [found] = await this.#pool.rows(
      sql`select ${SELECT_SESSION} from baton_sessions s where s.workspace_id = ${workspaceId} and s.name = ${name}`,
    )
    return found ? readSession(found) : null
  }

  async sessions(workspaceId: number, { workersOnly, limit }: { workersOnly: boolean; limit: number }) {
    const rows = await this.#pool.rows(
      sql`select ${SELECT_SESSION} from baton_sessions s where s.workspace_id = ${workspaceId}
             and (s.capacity is not null or not ${workersOnly}) order by s.started_at desc, s.name limit ${limit}`,
    )
    return rows.map(readSession)
  }

  async limits(workspaceId: number): Promise<Limits> {
    const [found] = await this.#pool.rows(
      sql`select ${SELECT_LIMITS} from baton_workspaces w where w.workspace_id = ${workspaceId}`,
    )
    if (!found) throw new Error(`workspace ${workspaceId} does not exist`)
    return readLimits(found)
  }

  async counts(workspaceId: number) {
    const [found] = await this.#pool.rows(
      sql`select active_claims, active_sessions from baton_counters where workspace_id = ${workspaceId}`,
    )
    if (!found) throw new Error(`workspace ${workspaceId} does not exist`)
    return { activeClaims: found[0] as number, activeSessions: found[1] as number }
  }
}

/** Newest first, from the most selective index for the filter. */
function idsOf(workspaceId: number, { states, userId, deadLetters, before }: TaskFilter, limit: number): Sql {
  const index = deadLetters ? 'task_dead_letter' : userId === undefined ? 'primary' : 'task_of_user'
  const conditions = [sql`d.workspace_id = ${workspaceId} and t.archived_at = 0`]
  if (deadLetters) conditions.push(sql`and d.is_dead_letter = 1 and t.state = 'failed'`)
  if (userId !== undefined) conditions.push(sql`and d.user_id = ${userId}`)
  if (states) conditions.push(sql`and t.state in (${states})`)
  if (before !== undefined) conditions.push(sql`and d.task_id < ${before}`)
  return sql`select d.task_id from baton_task_details d force index (${names([index])})
      straight_join baton_tasks t on t.workspace_id = d.workspace_id and t.id = d.task_id
      where ${names([conditions.map(({ text }) => text).join(' ')])} order by d.task_id desc limit ${limit}`
}

const parsed = (json: unknown) => (json === null ? null : JSON.parse(json as string))

function readDetails(columns: Row, dependsOn: readonly string[]): TaskDetails {
  const [title, taskType, description, input, tags, userId, project, parent, ...rest] = columns
  const [error, failureClass, exhausted, progressPercent, progressStep, checkpoint, metadata, ...more] = rest
  const [createdBy, question, waitsKind, waitsSince, waitsBecause] = more
  return {
    title,
    taskType,
    description,
    input: parsed(input),
    tags: parsed(tags),
    dependsOn,
    userId: textOrNull(userId),
    project: textOrNull(project),
    parent,
    error,
    failureClass: textOrNull(failureClass),
    exhausted: textOrNull(exhausted),
    progressPercent,
    progressStep,
    checkpoint: parsed(checkpoint),
    metadata: parsed(metadata),
    createdBy: textOrNull(createdBy),
    question: parsed(question),
    waitsKind,
    waitsSince,
    waitsBecause,
  } as TaskDetails
}
