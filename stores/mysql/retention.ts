import { remove } from './bulk.ts'
import { NOW } from './clock.ts'
import { isRetryable, type Pool, type Row } from './connect.ts'
import { names, type Sql, sql } from './sql.ts'
import type { Server } from './transact.ts'

const DAY_MS = 24 * 3_600_000
const REPLIES_KEPT_MS = DAY_MS
/** A session that is silent for longer than this no longer sees what it lost. */
const LOST_KEPT_MS = 7 * DAY_MS
const AT_ONCE = 1_000
/** Claims checked for their age in one pass. */
const CLAIMS_CHECKED = 20_000

type ClaimKey = readonly [workspaceId: number, taskId: number, generation: number]
const THE_BEGINNING: ClaimKey = [0, 0, 0]

/** Deletes what is past its retention, without blocking others. */
export class Retention {
  readonly #pool: Pool
  readonly #server: Server
  #claimsLookedAtTo = THE_BEGINNING

  constructor(pool: Pool, server: Server) {
    this.#pool = pool
    this.#server = server
  }

  async forget(): Promise<void> {
    await this.#deleteOld('baton_replies', 'created_at', REPLIES_KEPT_MS)
    await this.#deleteOld('baton_lost_claims', 'ended_at', LOST_KEPT_MS)
    await this.#deleteOldClaims()
    await this.#deleteEmptyQueues()
  }

  /** Oldest first, in small pieces: a long transaction blocks all others. */
  async #deleteOld(table: string, column: string, keptMs: number): Promise<void> {
    const [from, at] = [names([table]), names([column])]
    const piece = sql`delete from ${from} where ${at} < ${NOW} - ${keptMs} order by ${at} limit ${AT_ONCE}`
    for (let found = AT_ONCE; found === AT_ONCE; ) found = (await this.#pool.ask(piece)).found
  }

  /**
   * Deletes claims older than their workspace's retention, but never a task's newest, from which its session and agent are
   * read. An index by age would make every claim slower, so claims are scanned in order, a range each time. They are deleted
   * by key: a search would lock, for a moment, claims that others read.
   */
  async #deleteOldClaims(): Promise<void> {
    const [workspaceId, taskId, generation] = this.#claimsLookedAtTo
    const rows = await this.#pool.rows(
      sql`select c.workspace_id, c.task_id, c.generation,
                 c.ended_at between 1 and ${NOW} - w.claim_history_retention_days * ${DAY_MS} and c.generation < t.generation
            from (select * from baton_claims x force index (primary)
                   where x.workspace_id > ${workspaceId}
                      or x.workspace_id = ${workspaceId} and x.task_id > ${taskId}
                      or x.workspace_id = ${workspaceId} and x.task_id = ${taskId} and x.generation > ${generation}
                   order by x.workspace_id, x.task_id, x.generation limit ${CLAIMS_CHECKED}) c
            join baton_tasks t on t.workspace_id = c.workspace_id and t.id = c.task_id
            join baton_workspaces w on w.workspace_id = c.workspace_id
           order by c.workspace_id, c.task_id, c.generation`,
    )
    const old = rows.filter((one) => one[3] === 1)
    await this.#remove('baton_claims', ['task_id', 'generation'], old)
    const isEnd = rows.length < CLAIMS_CHECKED
    this.#claimsLookedAtTo = isEnd ? THE_BEGINNING : (rows.at(-1)!.slice(0, 3) as unknown as ClaimKey)
  }

  /**
   * A node that has a deleted queue in its cache and inserts a task is refused by the foreign key, and creates the queue
   * again.
   */
  async #deleteEmptyQueues(): Promise<void> {
    const rows = await this.#pool.rows(
      sql`select q.workspace_id, q.queue_id from baton_queues q
           where q.made_at < ${NOW} - ${DAY_MS} and (select 1 from baton_waiting w
             where w.workspace_id = q.workspace_id and w.queue_id = q.queue_id limit 1) is null limit ${AT_ONCE}`,
    )
    // One by one: a queue that has a task by now must not keep the others from being deleted.
    for (const one of rows) await this.#remove('baton_queues', ['queue_id'], [one])
  }

  /** Rows by their keys, each after its workspace. */
  async #remove(table: string, key: readonly string[], rows: readonly Row[]): Promise<void> {
    for (const [workspaceId, own] of byWorkspace(rows)) {
      const keys = own.map((one) => one.slice(1, 1 + key.length))
      const statements = remove(this.#server.isMariadb, { table, workspaceId, key, rows: keys })
      for (const statement of statements) await unlessLocked(this.#pool, statement)
    }
  }
}

/** Upkeep runs again: what is locked now is done next time. */
export async function unlessLocked(pool: Pool, statement: Sql): Promise<boolean> {
  try {
    await pool.ask(statement)
    return true
  } catch (error) {
    if (isRetryable((error as Error).cause ?? error)) return false
    throw error
  }
}

/** By their first column. */
export function byWorkspace(rows: readonly Row[]): Map<number, Row[]> {
  const groups = new Map<number, Row[]>()
  for (const one of rows) {
    const group = groups.get(one[0] as number)
    if (group) group.push(one)
    else groups.set(one[0] as number, [one])
  }
  return groups
}
