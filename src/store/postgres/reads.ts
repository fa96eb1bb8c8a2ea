import type pg from 'pg'
import type { TaskDetails } from '../../core/commands.ts'
import type { StoredEvent } from '../../core/events.ts'
import type { TaskState } from '../../core/states.ts'
import type { Reader, StoredClaim, StoredResult, StoredTask } from '../store.ts'
import { readRecord, taskColumns } from './columns.ts'
import { scopedQuery } from './scoped-query.ts'

type Row = unknown[]

/** What a list of tasks may be narrowed by. */
export interface TaskFilter {
  states?: readonly TaskState[] | undefined
  tag?: string | undefined
  agent?: string | undefined
  priorityMin?: number | undefined
  text?: string | undefined
  /** Tasks with a smaller id: newest first, page by page. */
  before?: number | undefined
  archived?: boolean | undefined
}

const EVENT_COLUMNS = `e.seq, e.type, e.task_id, e.generation, e.from_state, e.to_state, e.actor, e.payload, ms(e.at),
  (select t.uuid from tasks t where t.workspace_id = e.workspace_id and t.id = e.task_id)`

export interface EventWithTask extends StoredEvent {
  /** The outside id of its task. */
  taskUuid: string | null
}

/** Reads see one workspace, like writes: named in the transaction, enforced by row-level security. */
export class PostgresReader implements Reader {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  query(workspaceId: number, text: string, values: unknown[]): Promise<Row[]> {
    return scopedQuery<Row>(this.#pool, 'baton.workspace_id', String(workspaceId), {
      text,
      values,
      rowMode: 'array',
    })
  }

  async task(workspaceId: number, taskId: number): Promise<StoredTask | null> {
    return (await this.tasksById(workspaceId, [taskId]))[0] ?? null
  }

  /** Those of the given tasks that are there, in the order given. */
  async tasksById(workspaceId: number, taskIds: readonly number[]): Promise<StoredTask[]> {
    const rows = await this.query(
      workspaceId,
      `${SELECT_TASKS} where t.workspace_id = $1 and t.id = any($2::bigint[]) order by array_position($2::bigint[], t.id)`,
      [workspaceId, taskIds],
    )
    return rows.map(readTask)
  }

  async tasks(workspaceId: number, filter: TaskFilter, limit: number): Promise<StoredTask[]> {
    const conditions = ['t.workspace_id = $1']
    const values: unknown[] = [workspaceId]
    const where = (condition: string, value: unknown) => {
      values.push(value)
      conditions.push(condition.replaceAll('?', `$${values.length}`))
    }
    if (filter.states) where('t.state = any(?::text[])', filter.states)
    if (filter.tag !== undefined) where('d.tags @> array[?::text]', filter.tag)
    if (filter.agent !== undefined) where('t.agent = ?', filter.agent)
    if (filter.priorityMin !== undefined) where('t.priority >= ?', filter.priorityMin)
    if (filter.text !== undefined) where(`position(lower(?) in lower(d.title)) > 0`, filter.text)
    if (filter.before !== undefined) where('t.id < ?', filter.before)
    conditions.push(filter.archived ? 't.archived_at is not null' : 't.archived_at is null')
    values.push(limit)
    const rows = await this.query(
      workspaceId,
      `${SELECT_TASKS} where ${conditions.join(' and ')} order by t.id desc limit $${values.length}`,
      values,
    )
    return rows.map(readTask)
  }

  async claims(workspaceId: number, taskId: number): Promise<StoredClaim[]> {
    const rows = await this.query(
      workspaceId,
      `select generation, session, agent, state, ms(acquired_at), ms(ended_at), end_reason
         from claims where workspace_id = $1 and task_id = $2 order by generation`,
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
      `select generation, epoch, session, agent, accepted, rejection, ref, hash, data, summary, ms(submitted_at)
         from results where workspace_id = $1 and task_id = $2 order by submitted_at, generation`,
      [workspaceId, taskId],
    )
    return rows.map(
      ([generation, epoch, session, agent, accepted, rejection, ref, hash, data, summary, submittedAt]) =>
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
          submittedAt,
        }) as StoredResult,
    )
  }

  async events(workspaceId: number, after: number, limit: number): Promise<EventWithTask[]> {
    const rows = await this.query(
      workspaceId,
      // The page first, then the outside ids of its tasks: joined the other way round, a new table without statistics is
      // walked for every event.
      `with e as materialized (
         select * from events where workspace_id = $1 and seq > $2 order by seq limit $3)
       select ${EVENT_COLUMNS} from e order by e.seq`,
      [workspaceId, after, limit],
    )
    return rows.map(readEvent)
  }

  async eventsOfTask(
    workspaceId: number,
    taskId: number,
    after: number,
    limit: number,
  ): Promise<EventWithTask[]> {
    // Materialized first: else the planner may walk the whole log in seq order to find a task's few events.
    const rows = await this.query(
      workspaceId,
      `with e as materialized (select * from events where workspace_id = $1 and task_id = $2)
       select ${EVENT_COLUMNS} from e where e.seq > $3 order by e.seq limit $4`,
      [workspaceId, taskId, after, limit],
    )
    return rows.map(readEvent)
  }

  async lastSeq(workspaceId: number): Promise<number> {
    const rows = await this.query(
      workspaceId,
      'select last_seq from workspace_counters where workspace_id = $1',
      [workspaceId],
    )
    return (rows[0]?.[0] as number) ?? 0
  }

  async dependencies(
    workspaceId: number,
    taskId: number,
  ): Promise<{ uuid: string; state: TaskState; triggerRule: string }[]> {
    const rows = await this.query(
      workspaceId,
      `select t.uuid, t.state, d.trigger_rule from task_dependencies d
         join tasks t on t.workspace_id = d.workspace_id and t.id = d.depends_on
        where d.workspace_id = $1 and d.task_id = $2 order by d.depends_on`,
      [workspaceId, taskId],
    )
    return rows.map(([uuid, state, triggerRule]) => ({ uuid, state, triggerRule }) as never)
  }
}

const DETAIL_COLUMNS =
  'd.title, d.task_type, d.description, d.input, d.tags, d.progress_percent, d.progress_step, d.checkpoint'
const SELECT_TASKS = `select ${taskColumns('t')}, ${DETAIL_COLUMNS},
    (select coalesce(array_agg(u.uuid::text order by x.depends_on), '{}') from task_dependencies x
       join tasks u on u.workspace_id = x.workspace_id and u.id = x.depends_on
      where x.workspace_id = t.workspace_id and x.task_id = t.id)
  from tasks t join task_details d on d.workspace_id = t.workspace_id and d.task_id = t.id`

function readTask(row: Row): StoredTask {
  const record = readRecord(row)
  const [title, taskType, description, input, tags, progressPercent, progressStep, checkpoint, dependsOn] =
    row.slice(-9)
  const progress = { progressPercent, progressStep, checkpoint }
  return {
    record,
    details: { title, taskType, description, input, tags, dependsOn, ...progress } as TaskDetails,
  }
}

function readEvent(row: Row): EventWithTask {
  const [seq, type, taskId, generation, from, to, actor, payload, at, taskUuid] = row
  return { seq, type, taskId, generation, from, to, actor, payload, at, taskUuid } as EventWithTask
}
