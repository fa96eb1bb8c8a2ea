import type pg from 'pg'
import type { EventDraft, EventType } from '../../core/events.ts'
import { asUnavailable } from './connect.ts'
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
  const client = await pool.connect().catch((error) => {
    throw asUnavailable(error)
  })
  let broken: boolean | Error = true
  try {
    const events: Pick<EventDraft, 'type' | 'actor' | 'payload'>[] = []
    await client.query(sql.begin)
    await client.query({ ...sql.nameWorkspace, values: [String(workspaceId)] })
    const answer = await act({
      query: (text, values) => client.query({ text, values: values ?? [] }),
      emit: (type, actor, payload) => void events.push({ type, actor, payload }),
    })
    if (events.length > 0) await append(client, workspaceId, events)
    await client.query(sql.commit)
    broken = false
    return answer
  } catch (error) {
    await client.query(sql.rollback).then(
      () => (broken = false),
      () => undefined,
    )
    throw asUnavailable(error)
  } finally {
    client.release(broken)
  }
}

async function append(
  client: pg.PoolClient,
  workspaceId: number,
  events: readonly Pick<EventDraft, 'type' | 'actor' | 'payload'>[],
): Promise<void> {
  const { rows } = await client.query<{ now: number }>('select ms(clock_timestamp()) as now')
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
  await client.query({ ...statement, values })
}
