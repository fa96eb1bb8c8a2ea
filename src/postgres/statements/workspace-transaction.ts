import type pg from 'pg'
import { type EventType, type Origin, workspaceEvent } from '../../kinds/events.ts'
import { asUnavailable } from '../connection/connect.ts'
import type { EventWriter } from './event-writer.ts'
import { onConnection } from './on-connection.ts'
import * as sql from './statements.ts'

export interface WorkspaceTransaction {
  query(text: string, values?: unknown[]): Promise<pg.QueryResult>
  /** Rows as arrays, as the functions that read records expect them. */
  rows(text: string, values: unknown[]): Promise<unknown[][]>
  /** Recorded with the change, in the same transaction. A caller of the API is given with its key and address. */
  emit(type: EventType, by: Origin | string, payload: Record<string, unknown>): void
}

/** A named statement is parsed and planned once per connection. Dynamically built texts beyond this number get no name. */
const MOST_NAMES = 200
const names = new Map<string, { name: string }>()
function nameOf(text: string): { name: string } | undefined {
  if (!names.has(text) && names.size < MOST_NAMES) names.set(text, { name: `in_workspace_${names.size}` })
  return names.get(text)
}

interface Emitted {
  type: EventType
  by: Origin
  payload: Record<string, unknown>
}

/** A change to something other than tasks (keys, limits, runs …): one transaction, with its events. */
export async function inWorkspace<T>(
  pool: pg.Pool,
  log: EventWriter,
  workspaceId: number,
  act: (tx: WorkspaceTransaction) => Promise<T>,
): Promise<T> {
  return onConnection(pool, async (client) => {
    const query = (statement: pg.QueryConfig) =>
      client.query(statement).catch((error) => {
        throw asUnavailable(error)
      })
    const emitted: Emitted[] = []
    // Sent together with the first statement, which saves a round trip. If they fail, that statement fails, too.
    const begun = Promise.all([
      query(sql.begin),
      query({ ...sql.nameWorkspace, values: [String(workspaceId)] }),
    ])
    begun.catch(() => undefined)
    const answer = await act({
      query: (text, values) => query({ ...nameOf(text), text, values: values ?? [] }),
      rows: async (text, values) =>
        (await query({ ...nameOf(text), text, values, rowMode: 'array' } as pg.QueryConfig))
          .rows as unknown[][],
      emit: (type, by, payload) =>
        void emitted.push({ type, by: typeof by === 'string' ? { actor: by } : by, payload }),
    })
    await begun
    await log.commit(client, workspaceId, {
      events: emitted.length > 0 ? await eventsOf(query, emitted) : [],
    })
    return answer
  })
}

/** The events, at the database's time. */
async function eventsOf(
  query: (statement: pg.QueryConfig) => Promise<pg.QueryResult>,
  emitted: readonly Emitted[],
) {
  const { now } = (await query({ text: 'select ms(clock_timestamp()) as now' })).rows[0]
  return emitted.map(({ type, by, payload }) => workspaceEvent(type, payload, { ...by, now }))
}
