import { roundRobin } from '../../src/kernel/store/round-robin.ts'
import type {
  BlockedTask,
  Direction,
  DueTask,
  DueVersion,
  TaskThatWaits,
  Upkeep,
  Walked,
} from '../../src/kernel/store/store.ts'
import { walk } from '../../src/kernel/store/walk.ts'
import { outcomeOf } from '../../src/kinds/task/rules/upstream-counts.ts'
import type { TaskState } from '../../src/pure/states.ts'
import { inLists, tableOf, update } from './bulk.ts'
import { NOW } from './clock.ts'
import { textOf } from './columns.ts'
import { asUnavailable, type Pool, type Row } from './connect.ts'
import { byWorkspace, Retention, unlessLocked } from './retention.ts'
import { literal, Sql, sql } from './sql.ts'
import type { Server } from './transact.ts'

/** What upkeep reads, across workspaces or in one. */
export class MysqlUpkeep implements Upkeep {
  readonly #pool: Pool
  readonly #server: Server
  readonly #retention: Retention

  constructor(pool: Pool, server: Server) {
    this.#pool = pool
    this.#server = server
    this.#retention = new Retention(pool, server)
  }

  async dueTasks(limit: number, only?: number): Promise<DueVersion[]> {
    if (only !== undefined) return roundRobin(distinct(await this.#shares([only], limit)), limit)
    const expired = await this.#expiredLeases(limit)
    // A paused task may have a due time; it must not hide others.
    const dueRows = await this.#pool.rows(
      sql`select ${DUE_COLUMNS} from baton_tasks t force index (task_due) where ${IS_DUE} order by t.due_at limit ${limit}`,
    )
    const oldest = [...expired.tasks, ...dueRows.map(readDueVersion)]
    const isThereMore = !expired.areAll || dueRows.length === limit
    return roundRobin(
      distinct(isThereMore ? [...(await this.#sharesOfAll(limit)), ...oldest] : oldest),
      limit,
    )
  }

  async #sharesOfAll(limit: number): Promise<DueVersion[]> {
    const ids = (await this.#pool.rows(sql`select workspace_id from baton_workspaces order by rand()`)).map(
      ([id]) => id as number,
    )
    return this.#shares(ids, Math.ceil(limit / ids.length))
  }

  /** For each of these workspaces, a share of expired leases, and as many due tasks. */
  async #shares(workspaceIds: readonly number[], share: number): Promise<DueVersion[]> {
    const statements = workspaceIds.flatMap((id) => [
      sql`select ${DUE_COLUMNS} from baton_held h force index (primary)
            straight_join baton_tasks t on t.workspace_id = h.workspace_id and t.id = h.task_id
           where h.workspace_id = ${id} and h.check_at <= ${NOW} and t.lease_expires_at <= ${NOW} limit ${share}`,
      sql`select ${DUE_COLUMNS} from baton_tasks t force index (task_due_in_workspace)
           where t.workspace_id = ${id} and ${IS_DUE} order by t.due_at limit ${share}`,
    ])
    const found = await this.#pool
      .use((connection) => connection.send(statements))
      .catch((error) => {
        throw asUnavailable(error)
      })
    return found.flatMap(({ rows }) => rows.map(readDueVersion))
  }

  /** A renewal does not move the check time of its claim; claims that were renewed are moved here. */
  async #expiredLeases(limit: number): Promise<{ tasks: DueVersion[]; areAll: boolean }> {
    for (;;) {
      const rows = await this.#pool.rows(
        sql`select h.workspace_id, h.task_id, t.uuid, t.version, t.blocked, h.generation, t.lease_expires_at,
                   t.lease_expires_at <= ${NOW}
              from baton_held h force index (held_until)
              straight_join baton_tasks t on t.workspace_id = h.workspace_id and t.id = h.task_id
             where h.check_at <= ${NOW} order by h.check_at limit ${limit}`,
      )
      const renewed = rows.filter((one) => one[7] !== 1)
      const isMoved = await this.#moveCheckTime(renewed)
      // All of a full page were renewed, so there may be others behind it.
      if (rows.length < limit || renewed.length < limit || !isMoved)
        return { tasks: rows.filter((one) => one[7] === 1).map(readDueVersion), areAll: rows.length < limit }
    }
  }

  /** Of that generation only: the next one's lease may be shorter. */
  async #moveCheckTime(renewed: readonly Row[]): Promise<boolean> {
    let isMoved = true
    for (const [workspaceId, own] of byWorkspace(renewed)) {
      const moves = update(this.#server.isMariadb, {
        table: 'baton_held',
        workspaceId,
        key: ['task_id', 'generation'],
        columns: ['check_at'],
        rows: own.map(([, taskId, , , , generation, leaseExpiresAt]) => [taskId, generation, leaseExpiresAt]),
      })
      for (const statement of moves) isMoved = (await unlessLocked(this.#pool, statement)) && isMoved
    }
    return isMoved
  }

  async dueSessions(limit: number, only?: number) {
    const rows = await this.#pool.rows(
      sql`select s.workspace_id, s.name from baton_sessions s force index (session_due)
           where s.due_at <= ${NOW} and ${isIn('s', only)}
           order by row_number() over (partition by s.workspace_id order by s.due_at), s.due_at limit ${limit}`,
    )
    return rows.map(([workspaceId, name]) => ({ workspaceId: workspaceId as number, name: textOf(name) }))
  }

  async heldUntouchedSince(workspaceId: number, before: number, limit: number): Promise<DueTask[]> {
    const rows = await this.#pool.rows(
      sql`select t.workspace_id, t.id, t.uuid from baton_held h force index (primary)
            straight_join baton_tasks t on t.workspace_id = h.workspace_id and t.id = h.task_id
           where h.workspace_id = ${workspaceId} and t.updated_at <= ${before} order by h.task_id limit ${limit}`,
    )
    return rows.map(readDue)
  }

  async downstreamOf(workspaceId: number, taskIds: readonly number[]): Promise<BlockedTask[]> {
    const found = new Map<string, BlockedTask>()
    for (const list of inLists([...new Set(taskIds)])) {
      const rows = await this.#pool.rows(
        sql`select ${BLOCKED_TASK}, ${UPSTREAM_TASK}
              from ${tableOf(
                this.#server.isMariadb,
                ['id'],
                list.map((id) => [id]),
              )} v
              straight_join baton_tasks u force index (primary) on u.workspace_id = ${workspaceId} and u.id = v.id
              straight_join baton_task_dependencies d force index (task_downstream)
                on d.workspace_id = u.workspace_id and d.depends_on = u.id
              straight_join baton_tasks t force index (primary)
                on t.workspace_id = d.workspace_id and t.id = d.task_id
             where ${WAITS} and (t.upstream is null or ${IS_UNCOUNTED})`,
      )
      for (const row of rows) addBlocked(found, row)
    }
    return [...found.values()]
  }

  async #blockedBy(workspaceId: number, taskIds: readonly number[]): Promise<number[]> {
    const blocked = new Set<number>()
    for (const list of inLists(taskIds)) {
      const rows = await this.#pool.rows(
        sql`select distinct t.id
              from ${tableOf(
                this.#server.isMariadb,
                ['id'],
                list.map((id) => [id]),
              )} v
              straight_join baton_task_dependencies d force index (task_downstream)
                on d.workspace_id = ${workspaceId} and d.depends_on = v.id
              straight_join baton_tasks t force index (primary)
                on t.workspace_id = d.workspace_id and t.id = d.task_id and t.blocked = 1`,
      )
      for (const [id] of rows) blocked.add(id as number)
    }
    return [...blocked]
  }

  async missedTasks(limit: number, only?: number): Promise<BlockedTask[]> {
    const rows = await this.#pool.rows(
      sql`select t.workspace_id, t.id from baton_tasks t force index (task_blocked)
            straight_join baton_task_dependencies d force index (primary)
              on d.workspace_id = t.workspace_id and d.task_id = t.id
            straight_join baton_tasks u on u.workspace_id = d.workspace_id and u.id = d.depends_on
           where ${WAITS} and ${isIn('t', only)} group by t.workspace_id, t.id
          having max(t.upstream is null) = 1 or sum(${IS_UNCOUNTED}) > 0
              or (max(t.merge_as = 'object' and t.state = 'pending') = 1 and sum(d.outcome <=> 'completed') = count(*))
           order by row_number() over (partition by t.workspace_id order by t.id), t.id limit ${limit}`,
    )
    return this.#blockedTasks(rows as [number, number][])
  }

  /** With those of their upstream tasks that were counted otherwise, in the order they were added. */
  async #blockedTasks(tasks: readonly (readonly [number, number])[]): Promise<BlockedTask[]> {
    const found = new Map<string, BlockedTask>()
    for (const list of inLists(tasks)) {
      const rows = await this.#pool.rows(
        sql`select ${BLOCKED_TASK}, if(${IS_UNCOUNTED}, u.id, null), u.uuid, u.version, u.state
              from ${tableOf(this.#server.isMariadb, ['workspace_id', 'id'], list)} v
              straight_join baton_tasks t force index (primary) on t.workspace_id = v.workspace_id and t.id = v.id
              straight_join baton_task_dependencies d force index (primary)
                on d.workspace_id = t.workspace_id and d.task_id = t.id
              straight_join baton_tasks u on u.workspace_id = d.workspace_id and u.id = d.depends_on
             where ${WAITS} order by t.workspace_id, t.id, d.added_at, d.place`,
      )
      for (const row of rows) addBlocked(found, row)
    }
    return [...found.values()]
  }

  blockedFrom(
    workspaceId: number,
    taskIds: readonly number[],
    way: Direction,
    limit: number,
  ): Promise<Walked> {
    const blockedAmong = async (ids: readonly number[]) => {
      const found = new Map<number, TaskThatWaits>()
      for (const list of inLists(ids))
        for (const one of await this.#waitsOf(workspaceId, list)) addWait(found, one)
      return [...found.values()]
    }
    const waitingFor = (ids: readonly number[]) => this.#blockedBy(workspaceId, ids)
    return walk(taskIds, way, limit, { blockedAmong, waitingFor })
  }

  #waitsOf = (workspaceId: number, taskIds: readonly number[]) =>
    this.#pool.rows(
      sql`select t.id, t.uuid, t.version, t.state, d.depends_on
            from ${tableOf(
              this.#server.isMariadb,
              ['id'],
              taskIds.map((id) => [id]),
            )} v
            straight_join baton_tasks t force index (primary) on t.workspace_id = ${workspaceId} and t.id = v.id
              and t.blocked = 1 and t.state in ('pending', 'paused')
            straight_join baton_task_dependencies d force index (primary)
              on d.workspace_id = t.workspace_id and d.task_id = t.id`,
    )

  applyRetention = () => this.#retention.forget()
}

const DUE_COLUMNS = new Sql('t.workspace_id, t.id, t.uuid, t.version, t.blocked')
const IS_DUE = sql`t.due_at <= ${NOW} and t.state in (
  'pending', 'queued', 'awaiting_retry', 'verifying', 'assigned', 'running', 'continuing')`
const isIn = (table: string, only: number | undefined) =>
  new Sql(only === undefined ? 'true' : `${table}.workspace_id = ${literal(only)}`)

const WAITS = new Sql(`t.blocked = 1 and t.state in ('pending', 'paused')`)
const IS_UNCOUNTED = new Sql(
  `not (d.outcome <=> if(u.state in ('completed', 'failed', 'cancelled', 'skipped'), u.state, null))`,
)
const BLOCKED_TASK = new Sql('t.workspace_id, t.id, t.uuid, t.version, t.merge_as, t.upstream')
const UPSTREAM_TASK = new Sql('u.id, u.uuid, u.version, u.state')

/** One row for each upstream task; without its id, only the task itself matters. */
function addBlocked(found: Map<string, BlockedTask>, row: Row): void {
  const [, , uuid, version, merge, counts, on, upstreamUuid, upstreamVersion, state] = row
  const upstream = counts === null ? null : JSON.parse(counts as string)
  const known = found.get(uuid as string)
  const task = known ?? ({ ...readDue(row), version, merge, upstream, edges: [] } as BlockedTask)
  found.set(task.uuid, task)
  if (on === null) return
  const outcome = outcomeOf(state as TaskState)
  task.edges.push({
    dependsOn: on as number,
    uuid: upstreamUuid as string,
    version: upstreamVersion as number,
    outcome,
  })
}

const distinct = (tasks: readonly DueVersion[]) => [
  ...new Map(tasks.map((task) => [task.uuid, task])).values(),
]

const readDue = ([workspaceId, taskId, uuid]: Row) => ({ workspaceId, taskId, uuid }) as DueTask
const readDueVersion = ([workspaceId, taskId, uuid, version, blocked]: Row) =>
  ({ workspaceId, taskId, uuid, version, isBlocked: blocked === 1 }) as DueVersion

function addWait(found: Map<number, TaskThatWaits>, row: Row): void {
  const [id, uuid, version, state, dependsOn] = row as [number, string, number, TaskState, number]
  const known = found.get(id)
  if (known) known.waitsFor.push(dependsOn)
  else found.set(id, { id, uuid, version, isPaused: state === 'paused', waitsFor: [dependsOn] })
}
