import type pg from 'pg'
import type { Connections } from '../../../postgres/statements/connections.ts'
import { scopedQueries, scopedQuery } from '../../../postgres/statements/scoped-query.ts'

/**
 * The output of runs, in rows. Notes about a log are stored among its rows, at offsets that no text reaches: rows are only
 * inserted and deleted, never updated.
 */

const NOTES = { begun: 2 ** 50, truncated: 2 ** 50 + 1, final: 2 ** 50 + 2 } as const
type Note = keyof typeof NOTES
const BEYOND_TEXT = NOTES.begun

interface Chunk {
  offset: number
  stream: 'stdout' | 'stderr' | 'system'
  /** ISO time. */
  ts: string
  content: Buffer
}

const inWorkspace = (id: number) => ['baton.workspace_id', String(id)] as const

export class RunLogRows {
  readonly #pools: Pick<Connections, 'readers' | 'output'>

  constructor(pools: Pick<Connections, 'readers' | 'output'>) {
    this.#pools = pools
  }

  /** Fails when a row exists at one of these offsets: another process writes the same log. */
  async append(workspaceId: number, runId: string, chunks: readonly Chunk[]): Promise<void> {
    await this.#write(workspaceId, {
      text: `insert into run_log_chunks (workspace_id, run_id, chunk_offset, bytes, stream, at, content)
             select $1, $2::uuid, c.* from unnest($3::bigint[], $4::int[], $5::text[], $6::timestamptz[], $7::bytea[]) c`,
      values: [
        workspaceId,
        runId,
        chunks.map(({ offset }) => offset),
        chunks.map(({ content }) => content.length),
        chunks.map(({ stream }) => stream),
        chunks.map(({ ts }) => ts),
        chunks.map(({ content }) => content),
      ],
    })
  }

  /** The first note of its kind stays. */
  async note(workspaceId: number, runId: string, note: Note, content: string): Promise<void> {
    await this.#write(workspaceId, {
      text: `insert into run_log_chunks (workspace_id, run_id, chunk_offset, bytes, stream, at, content)
             values ($1, $2, $3, 0, 'system', clock_timestamp(), $4) on conflict do nothing`,
      values: [workspaceId, runId, NOTES[note], Buffer.from(content)],
    })
  }

  /** The length of the log, and its notes. */
  async status(workspaceId: number, runId: string) {
    const values = [workspaceId, runId, BEYOND_TEXT]
    const [last, notes] = await scopedQueries<pg.QueryResultRow>(
      this.#pools.readers,
      ...inWorkspace(workspaceId),
      [
        {
          text: `select chunk_offset + bytes as bytes from run_log_chunks
                  where workspace_id = $1 and run_id = $2 and chunk_offset < $3 order by chunk_offset desc limit 1`,
          values,
        },
        {
          text: `select chunk_offset, content from run_log_chunks
                  where workspace_id = $1 and run_id = $2 and chunk_offset >= $3`,
          values,
        },
      ],
    )
    const noted: Partial<Record<Note, string>> = {}
    for (const [note, place] of Object.entries(NOTES)) {
      const row = notes!.find(({ chunk_offset }) => chunk_offset === place)
      if (row) noted[note as Note] = (row.content as Buffer).toString()
    }
    return { bytes: (last![0]?.bytes as number | undefined) ?? 0, notes: noted }
  }

  /** Chunks with bytes in this range, in order, without gaps. */
  async between(workspaceId: number, runId: string, from: number, to: number): Promise<Chunk[]> {
    return scopedQuery<Chunk & pg.QueryResultRow>(this.#pools.readers, ...inWorkspace(workspaceId), {
      text: `select chunk_offset as offset, stream, content,
                    to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ts
               from run_log_chunks
              where workspace_id = $1 and run_id = $2 and chunk_offset < least($4::bigint, $5::bigint) and chunk_offset >= (
                select coalesce(max(chunk_offset), 0) from run_log_chunks
                 where workspace_id = $1 and run_id = $2 and chunk_offset <= $3)
              order by chunk_offset`,
      values: [workspaceId, runId, from, to, BEYOND_TEXT],
    })
  }

  async delete(workspaceId: number, runId: string): Promise<void> {
    await this.#write(workspaceId, {
      text: 'delete from run_log_chunks where workspace_id = $1 and run_id = $2',
      values: [workspaceId, runId],
    })
  }

  async #write(workspaceId: number, statement: { text: string; values: unknown[] }): Promise<void> {
    await scopedQuery(this.#pools.output, ...inWorkspace(workspaceId), statement)
  }
}
