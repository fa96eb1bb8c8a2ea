import type pg from 'pg'
import type { EventDraft, EventType } from '../../core/events.ts'
import { asUnavailable, connectionFrom } from './connect.ts'
import * as sql from './statements.ts'

export interface WorkspaceTransaction {
  query(text: string, values?: unknown[]): Promise<pg.QueryResult>
  /** On record with the change, in the same transaction. */
  emit(type: EventType, actor: string, payload: Record<string, unknown>): void
}

/** A change to something other than tasks (keys, limits, sessions …): one transaction, its events with it. */
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
    await query(sql.begin)
    await query({ ...sql.nameWorkspace, values: [String(workspaceId)] })
    const answer = await act({
      query: (text, values) => query({ text, values: values ?? [] }),
      emit: (type, actor, payload) => void events.push({ type, actor, payload }),
    })
    if (events.length > 0) await append(query, workspaceId, events)
    await query(sql.commit)
    broken = false
    return answer
  } finally {
    // A connection with an unknown transaction on it is not used again.
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

async function append(
  query: (statement: pg.QueryConfig) => Promise<pg.QueryResult>,
  workspaceId: number,
  events: readonly Pick<EventDraft, 'type' | 'actor' | 'payload'>[],
): Promise<void> {
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
  await query({ ...statement, values })
}

/** Something that happened and changed nothing of its own. */
export const recordEvent = (
  pool: pg.Pool,
  workspaceId: number,
  type: EventType,
  actor: string,
  payload: Record<string, unknown>,
) => inWorkspace(pool, workspaceId, async (tx) => tx.emit(type, actor, payload))
