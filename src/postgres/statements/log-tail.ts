import type pg from 'pg'
import type { NodeMessage } from '../../kernel/store/node-messages.ts'
import type { Notices } from '../connection/notices.ts'
import type { Connections } from './connections.ts'
import { inside, scopedQueries, scopedQuery } from './scoped-query.ts'

/** Output on its way to another node, in rows that live for seconds. */

export interface TailRow {
  runId: string
  /** The request that it answers; null: output as it is written. */
  asked: string | null
  body: unknown
}

/** A reader that has just begun starts this far back, to get what was written while its request was on its way. */
const FIRST_READ_MS = 1_000
/** What is older was left by a node that was lost. */
const LEFT_AFTER_MS = 60_000

export class LogTailRows {
  readonly #pools: Pick<Connections, 'readers' | 'output'>
  readonly #notices: Notices

  constructor(pools: Pick<Connections, 'readers' | 'output'>, notices: Notices) {
    this.#pools = pools
    this.#notices = notices
  }

  /** Adds rows and tells the other nodes. Nobody waits for a disk: the rows may be lost. */
  async add(workspaceId: number, rows: readonly TailRow[], message: NodeMessage): Promise<void> {
    await scopedQueries(this.#pools.output, 'baton.workspace_id', String(workspaceId), [
      { text: 'set local synchronous_commit = off' },
      {
        name: 'add_to_log_tail',
        text: `insert into run_log_tail (workspace_id, run_id, asked, body)
               select $1, t.* from unnest($2::uuid[], $3::uuid[], $4::json[]) t`,
        values: [
          workspaceId,
          rows.map(({ runId }) => runId),
          rows.map(({ asked }) => asked),
          rows.map(({ body }) => JSON.stringify(body)),
        ],
      },
      this.#notices.telling(message),
    ])
  }

  /** The output of a run after this row, oldest first; null: of the last moment. */
  after(
    workspaceId: number,
    runId: string,
    number: number | null,
  ): Promise<{ number: number; body: unknown }[]> {
    return inside(
      this.#pools.readers,
      workspaceId,
      `select number, body from run_log_tail
        where workspace_id = $1 and run_id = $2 and asked is null and number > coalesce($3::bigint, -1)
          and ($3::bigint is not null or created_at > clock_timestamp() - $4 * interval '1 millisecond')
        order by number`,
      [runId, number, FIRST_READ_MS],
    )
  }

  /** The answer to a request, once; undefined: it is not there. */
  async take(workspaceId: number, runId: string, asked: string): Promise<unknown> {
    const [found] = await inside<{ body: unknown }>(
      this.#pools.output,
      workspaceId,
      'delete from run_log_tail where workspace_id = $1 and run_id = $2 and asked = $3 returning body',
      [runId, asked],
    )
    return found?.body
  }

  /** Deletes rows that are older than this: all readers have read them. */
  async trim(workspaceId: number, runIds: readonly string[], olderThanMs: number): Promise<void> {
    await inside(
      this.#pools.output,
      workspaceId,
      `delete from run_log_tail where workspace_id = $1 and run_id = any($2::uuid[])
          and created_at < clock_timestamp() - $3 * interval '1 millisecond'`,
      [runIds, olderThanMs],
    )
  }
}

/** What lost nodes have left, in all workspaces. */
export async function forgetOldTails(pool: pg.Pool): Promise<void> {
  await scopedQuery(pool, 'baton.scope', 'upkeep', {
    text: `delete from run_log_tail where created_at < clock_timestamp() - $1 * interval '1 millisecond'`,
    values: [LEFT_AFTER_MS],
  })
}
