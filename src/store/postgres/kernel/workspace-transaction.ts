import type pg from 'pg'
import type { EventDraft, EventType } from '../../../core/events.ts'
import { asUnavailable, connectionFrom } from '../connection/connect.ts'
import * as sql from './statements.ts'

export interface WorkspaceTransaction {
  query(text: string, values?: unknown[]): Promise<pg.QueryResult>
  /** Rows as arrays, as the functions that read records expect them. */
  rows(text: string, values: unknown[]): Promise<unknown[][]>
  /** Recorded with the change, in the same transaction. */
  emit(type: EventType, actor: string, payload: Record<string, unknown>): void
}

/** A named statement is parsed and planned once per connection. Dynamically built texts beyond this number get no name. */
const MOST_NAMES = 200
const names = new Map<string, { name: string }>()
function nameOf(text: string): { name: string } | undefined {
  if (!names.has(text) && names.size < MOST_NAMES) names.set(text, { name: `in_workspace_${names.size}` })
  return names.get(text)
}

/** A change to something other than tasks (keys, limits, sessions …): one transaction, with its events. */
export async function inWorkspace<T>(
  pool: pg.Pool,
  workspaceId: number,
  act: (tx: WorkspaceTransaction) => Promise<T>,
): Promise<T> {
  const client = await connectionFrom(pool)
  const query = (statement: pg.QueryConfig) =>
    client.query(statement).catch((error) => {
      throw asUnavailable(error)
    })
  let broken = true
  try {
    const events: Pick<EventDraft, 'type' | 'actor' | 'payload'>[] = []
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
      emit: (type, actor, payload) => void events.push({ type, actor, payload }),
    })
    await begun
    const appended = events.length > 0 ? [await eventsOf(query, workspaceId, events)] : []
    // Together: after a failed statement, a commit rolls everything back.
    await Promise.all([...appended, sql.commit].map(query))
    broken = false
    return answer
  } finally {
    // A connection with a transaction in an unknown state is not reused.
    if (broken)
      await client.query(sql.rollback).then(
        () => {
          broken = false
        },
        () => undefined,
      )
    client.release(broken)
  }
}

/** The statement that records the events, at the database's time. */
async function eventsOf(
  query: (statement: pg.QueryConfig) => Promise<pg.QueryResult>,
  workspaceId: number,
  events: readonly Pick<EventDraft, 'type' | 'actor' | 'payload'>[],
): Promise<pg.QueryConfig> {
  const { rows } = await query({ text: 'select ms(clock_timestamp()) as now' })
  const each = (value: (event: (typeof events)[number]) => unknown) => events.map(value)
  const none = each(() => null)
  const [statement, values] = sql.appendEvents(
    [workspaceId, events.length, 0, 0],
    [
      each(({ payload }) => JSON.stringify(payload)),
      each(({ type }) => type),
      none,
      none,
      none,
      none,
      each(({ actor }) => actor),
      each(() => rows[0]!.now),
    ],
  )
  return { ...statement, values }
}

/** An event without a change of its own. */
export const recordEvent = (
  pool: pg.Pool,
  workspaceId: number,
  type: EventType,
  actor: string,
  payload: Record<string, unknown>,
) => inWorkspace(pool, workspaceId, async (tx) => tx.emit(type, actor, payload))
