import type { TaskState } from '../../core/states.ts'
import type { BlockedTask, DueTask, Upkeep } from '../store.ts'
import { inLists, update } from './bulk.ts'
import { CLOCK } from './clock.ts'
import { textOf } from './columns.ts'
import { asUnavailable, isWorthAnotherLook, type Pool, type Row } from './connect.ts'
import { among, type Sql, sql } from './sql.ts'
import type { Server } from './transact.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const REPLIES_KEPT_MS = DAY_MS
const AT_ONCE = 1_000
/** Claims that are looked at, each time, whether they are old enough to go. */
const CLAIMS_LOOKED_AT = 20_000

type Place = readonly [workspaceId: number, taskId: number, generation: number]
const THE_BEGINNING: Place = [0, 0, 0]

/** What time asks for, across workspaces. */
export class MysqlUpkeep implements Upkeep {
  readonly #pool: Pool
  readonly #server: Server
  #claimsLookedAtTo = THE_BEGINNING

  constructor(pool: Pool, server: Server) {
    this.#pool = pool
    this.#server = server
  }

  async dueTasks(limit: number): Promise<DueTask[]> {
    const expired = await this.#expiredLeases(limit)
    const due = await this.#pool.rows(
      sql`select t.workspace_id, t.id, t.uuid from baton_tasks t force index (task_due)
           where t.due_at <= ${CLOCK} order by t.due_at limit ${limit}`,
    )
    const all = new Map([...expired, ...due.map(readDue)].map((task) => [task.uuid, task]))
    return [...all.values()].slice(0, limit)
  }

  /** A renewal does not move the hour at which its claim is looked at; who was renewed is looked at later. */
  async #expiredLeases(limit: number): Promise<DueTask[]> {
    for (;;) {
      const rows = await this.#pool.rows(
        sql`select h.workspace_id, h.task_id, t.uuid, h.generation, t.lease_expires_at, t.lease_expires_at <= ${CLOCK}
              from baton_held h force index (held_until)
              straight_join baton_tasks t on t.workspace_id = h.workspace_id and t.id = h.task_id
             where h.check_at <= ${CLOCK} order by h.check_at limit ${limit}`,
      )
      const renewed = rows.filter((one) => one[5] !== 1)
      await this.#lookAgainLater(renewed)
      // All of a full page were renewed: there may be others behind it.
      if (rows.length < limit || renewed.length < rows.length)
        return rows.filter((one) => one[5] === 1).map(readDue)
    }
  }

  async #lookAgainLater(renewed: readonly Row[]): Promise<void> {
    for (const workspaceId of new Set(renewed.map(([workspace]) => workspace as number))) {
      const own = renewed.filter(([workspace]) => workspace === workspaceId)
      const moves = update(this.#server.isMariadb, {
        table: 'baton_held',
        workspaceId,
        key: 'task_id',
        columns: ['check_at'],
        rows: own.map((one) => [one[1], one[4]]),
      })
      for (const statement of moves) await this.#ifNobodyIsInTheWay(statement)
    }
  }

  /** Upkeep comes round again: what it cannot have now it does next time. */
  async #ifNobodyIsInTheWay(statement: Sql): Promise<void> {
    try {
      await this.#pool.ask(statement)
    } catch (error) {
      if (!isWorthAnotherLook((error as Error).cause ?? error)) throw asUnavailable(error)
    }
  }

  async dueSessions(limit: number) {
    const rows = await this.#pool.rows(
      sql`select s.workspace_id, s.name from baton_sessions s force index (session_due)
           where s.due_at <= ${CLOCK} order by s.due_at limit ${limit}`,
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
        sql`select distinct t.id from baton_task_dependencies d force index (task_downstream)
              straight_join baton_tasks t on t.workspace_id = d.workspace_id and t.id = d.task_id
             where d.workspace_id = ${workspaceId} and d.depends_on in (${list}) and t.blocked = 1`,
      )
      for (const [id] of rows) blocked.add(id as number)
    }
    return this.#blockedTasks([...blocked].map((id) => [workspaceId, id]))
  }

  async forgottenTasks(limit: number): Promise<BlockedTask[]> {
    const rows = await this.#pool.rows(
      sql`select t.workspace_id, t.id from baton_tasks t force index (task_blocked)
            straight_join baton_task_dependencies d on d.workspace_id = t.workspace_id and d.task_id = t.id
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
              from baton_tasks t force index (primary)
              straight_join baton_task_dependencies d on d.workspace_id = t.workspace_id and d.task_id = t.id
              straight_join baton_tasks u on u.workspace_id = d.workspace_id and u.id = d.depends_on
             where ${among(['t.workspace_id', 't.id'], list)} and t.blocked = 1
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

  async forgetThePast(): Promise<void> {
    const ago = (ms: number) => sql`${CLOCK} - ${ms}`
    await this.#forgetPieceByPiece(
      sql`delete from baton_replies where created_at < ${ago(REPLIES_KEPT_MS)} order by created_at limit ${AT_ONCE}`,
    )
    // A claim is told as lost for as long as its session could still be asked about it.
    await this.#forgetPieceByPiece(
      sql`delete from baton_lost_claims where ended_at < ${ago(7 * DAY_MS)} order by ended_at limit ${AT_ONCE}`,
    )
    await this.#forgetOldClaims()
    await this.#forgetEmptyQueues()
  }

  async #forgetPieceByPiece(statement: Sql): Promise<void> {
    let found: number
    do found = (await this.#pool.ask(statement)).found
    while (found === AT_ONCE)
  }

  /**
   * Claims older than their workspace keeps them, but never a task's newest, of which its session and agent are read. An
   * index by age would cost every claim; so they are looked through in turn, a stretch each time. They are deleted by
   * their keys: a search would lock, for a moment, claims that others read.
   */
  async #forgetOldClaims(): Promise<void> {
    const [workspaceId, taskId, generation] = this.#claimsLookedAtTo
    const rows = await this.#pool.rows(
      sql`select c.workspace_id, c.task_id, c.generation,
                 c.ended_at between 1 and ${CLOCK} - w.claim_history_retention_days * ${DAY_MS} and c.generation < t.generation
            from (select * from baton_claims x force index (primary)
                   where x.workspace_id > ${workspaceId}
                      or x.workspace_id = ${workspaceId} and x.task_id > ${taskId}
                      or x.workspace_id = ${workspaceId} and x.task_id = ${taskId} and x.generation > ${generation}
                   order by x.workspace_id, x.task_id, x.generation limit ${CLAIMS_LOOKED_AT}) c
            join baton_tasks t on t.workspace_id = c.workspace_id and t.id = c.task_id
            join baton_workspaces w on w.workspace_id = c.workspace_id
           order by c.workspace_id, c.task_id, c.generation`,
    )
    const old = rows.filter((one) => one[3] === 1).map((one) => one.slice(0, 3))
    for (const list of inLists(old))
      await this.#ifNobodyIsInTheWay(
        sql`delete from baton_claims where ${among(['workspace_id', 'task_id', 'generation'], list)}`,
      )
    const last = rows.at(-1)
    this.#claimsLookedAtTo =
      rows.length < CLAIMS_LOOKED_AT ? THE_BEGINNING : (last!.slice(0, 3) as unknown as Place)
  }

  /** Who still knows such a queue and puts a task in is refused by the foreign key, and makes it anew. */
  async #forgetEmptyQueues(): Promise<void> {
    const rows = await this.#pool.rows(
      sql`select q.workspace_id, q.queue_id from baton_queues q
           where q.made_at < ${CLOCK} - ${DAY_MS} and (select 1 from baton_waiting w
             where w.workspace_id = q.workspace_id and w.queue_id = q.queue_id limit 1) is null limit ${AT_ONCE}`,
    )
    for (const one of rows)
      await this.#ifNobodyIsInTheWay(
        sql`delete from baton_queues where ${among(['workspace_id', 'queue_id'], [one])}`,
      )
  }
}

const readDue = ([workspaceId, taskId, uuid]: Row) => ({ workspaceId, taskId, uuid }) as DueTask
