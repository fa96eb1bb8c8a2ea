import type { TaskState } from '../../core/states.ts'
import type { BlockedTask, DueTask, Upkeep } from '../store.ts'
import { inLists, tableOf, update } from './bulk.ts'
import { NOW } from './clock.ts'
import { textOf } from './columns.ts'
import type { Pool, Row } from './connect.ts'
import { byWorkspace, ifNobodyIsInTheWay, Past } from './past.ts'
import { sql } from './sql.ts'
import type { Server } from './transact.ts'

/** What time asks for, across workspaces. */
export class MysqlUpkeep implements Upkeep {
  readonly #pool: Pool
  readonly #server: Server
  readonly #past: Past

  constructor(pool: Pool, server: Server) {
    this.#pool = pool
    this.#server = server
    this.#past = new Past(pool, server)
  }

  /** A paused task may have an hour of its own; it must not keep others from being seen. */
  async dueTasks(limit: number): Promise<DueTask[]> {
    const expired = await this.#expiredLeases(limit)
    const due = await this.#pool.rows(
      sql`select t.workspace_id, t.id, t.uuid from baton_tasks t force index (task_due)
           where t.due_at <= ${NOW} and t.state in ('pending', 'queued', 'awaiting_retry', 'verifying')
           order by t.due_at limit ${limit}`,
    )
    const all = new Map([...expired, ...due.map(readDue)].map((task) => [task.uuid, task]))
    return [...all.values()].slice(0, limit)
  }

  /** A renewal does not move the hour at which its claim is looked at; who was renewed is looked at later. */
  async #expiredLeases(limit: number): Promise<DueTask[]> {
    for (;;) {
      const rows = await this.#pool.rows(
        sql`select h.workspace_id, h.task_id, t.uuid, h.generation, t.lease_expires_at, t.lease_expires_at <= ${NOW}
              from baton_held h force index (held_until)
              straight_join baton_tasks t on t.workspace_id = h.workspace_id and t.id = h.task_id
             where h.check_at <= ${NOW} order by h.check_at limit ${limit}`,
      )
      const renewed = rows.filter((one) => one[5] !== 1)
      const isMoved = await this.#lookAgainLater(renewed)
      // All of a full page were renewed, so there may be others behind it.
      if (rows.length < limit || renewed.length < limit || !isMoved)
        return rows.filter((one) => one[5] === 1).map(readDue)
    }
  }

  /** Of that generation only: the next one's lease may be shorter. */
  async #lookAgainLater(renewed: readonly Row[]): Promise<boolean> {
    let isMoved = true
    for (const [workspaceId, own] of byWorkspace(renewed)) {
      const moves = update(this.#server.isMariadb, {
        table: 'baton_held',
        workspaceId,
        key: ['task_id', 'generation'],
        columns: ['check_at'],
        rows: own.map(([, taskId, , generation, leaseExpiresAt]) => [taskId, generation, leaseExpiresAt]),
      })
      for (const statement of moves) isMoved = (await ifNobodyIsInTheWay(this.#pool, statement)) && isMoved
    }
    return isMoved
  }

  async dueSessions(limit: number) {
    const rows = await this.#pool.rows(
      sql`select s.workspace_id, s.name from baton_sessions s force index (session_due)
           where s.due_at <= ${NOW} order by s.due_at limit ${limit}`,
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
    return this.#blockedTasks([...blocked].map((id) => [workspaceId, id]))
  }

  async forgottenTasks(limit: number): Promise<BlockedTask[]> {
    const rows = await this.#pool.rows(
      sql`select t.workspace_id, t.id from baton_tasks t force index (task_blocked)
            straight_join baton_task_dependencies d force index (primary)
              on d.workspace_id = t.workspace_id and d.task_id = t.id
            straight_join baton_tasks u on u.workspace_id = d.workspace_id and u.id = d.depends_on
           where t.blocked = 1 and t.state = 'pending' group by t.workspace_id, t.id
          having sum(u.state not in ('completed', 'failed', 'cancelled', 'skipped')) = 0
              or sum(u.state in ('failed', 'cancelled', 'skipped')) > 0
           limit ${limit}`,
    )
    return this.#blockedTasks(rows as [number, number][])
  }

  /** With the states of everything they wait for, in the order it was said. */
  async #blockedTasks(tasks: readonly (readonly [number, number])[]): Promise<BlockedTask[]> {
    const found = new Map<string, BlockedTask>()
    for (const list of inLists(tasks)) {
      const rows = await this.#pool.rows(
        sql`select t.workspace_id, t.id, t.uuid, t.merge_as, d.trigger_rule, u.state
              from ${tableOf(this.#server.isMariadb, ['workspace_id', 'id'], list)} v
              straight_join baton_tasks t force index (primary)
                on t.workspace_id = v.workspace_id and t.id = v.id and t.blocked = 1
              straight_join baton_task_dependencies d force index (primary)
                on d.workspace_id = t.workspace_id and d.task_id = t.id
              straight_join baton_tasks u on u.workspace_id = d.workspace_id and u.id = d.depends_on
             order by t.workspace_id, t.id, d.added_at, d.place`,
      )
      for (const one of rows) {
        const [, , uuid, merge, triggerRule, state] = one as [number, number, string, ...unknown[]]
        const known = found.get(uuid)
        if (known) known.upstream.push(state as TaskState)
        else found.set(uuid, { ...readDue(one), merge, triggerRule, upstream: [state] } as BlockedTask)
      }
    }
    return [...found.values()]
  }

  forgetThePast = () => this.#past.forget()
}

const readDue = ([workspaceId, taskId, uuid]: Row) => ({ workspaceId, taskId, uuid }) as DueTask
