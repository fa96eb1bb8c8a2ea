import type pg from 'pg'
import { type Committed, StoreUnavailable } from '../../kernel/store/store.ts'
import type { EventWithOrigin } from '../../kinds/events.ts'
import { NO_COUNT_CHANGES } from '../../kinds/task/rules/counts.ts'
import { storedPayload } from './event-payloads.ts'
import { arrayLiteral } from './rows.ts'
import { send } from './send.ts'
import type { Bound } from './statements.ts'
import * as sql from './statements.ts'

/** The end of a transaction: its last writes, its events, and what must be checked under the lock of the counter. */
export interface LastWrites {
  writes?: readonly Bound[]
  events: readonly EventWithOrigin[]
  checks?: readonly Bound[]
  /** By how much the number of active claims changes, and how many there may be. */
  claims?: { delta: number; most: number }
  /** By how much the numbers of tasks change, in the order of `taskStates`. */
  counts?: readonly number[]
  /** Agents whose claims were unrestricted when they were read, as an array literal: still so when the counter is locked. */
  unbound?: string | null
  /** Whether callers that wait for a task may get one now. */
  tasksWaiting?: boolean
}

/**
 * The only writer of the log. Every transaction that changes a workspace ends here, whatever it changed: so no event is
 * committed without its number, and none without a notice to those who wait for it on this node and on others.
 */
export class EventWriter {
  readonly #committed: Committed

  constructor(committed: Committed = () => undefined) {
    this.#committed = committed
  }

  /** The results of the writes, in their order. */
  async commit(client: pg.PoolClient, workspaceId: number, last: LastWrites): Promise<pg.QueryArrayResult[]> {
    const { writes = [], events, checks = [], tasksWaiting = false } = last
    const log = appended(workspaceId, last)
    const results = await send(client, [...writes, ...log, ...checks, [sql.commit, []]])
    // After a failed statement, a commit rolls everything back.
    if (results.at(-1)!.command !== 'COMMIT') throw new StoreUnavailable('The transaction was not committed.')
    const seq = log.length > 0 ? (results[writes.length]!.rows[0]![0] as number) : undefined
    if (writes.length + events.length > 0)
      this.#committed(workspaceId, { events: events.length, tasksWaiting, seq })
    return results.slice(0, writes.length)
  }
}

function appended(
  workspaceId: number,
  { events, claims = { delta: 0, most: 0 }, counts = NO_COUNT_CHANGES, unbound = null }: LastWrites,
): Bound[] {
  if (events.length === 0) return []
  const first = [workspaceId, events.length, claims.delta, claims.most, ...counts]
  const statement = unbound === null ? sql.appendEvents : sql.appendEventsOfClaims
  const append = statement(unbound === null ? first : [...first, unbound], [
    events.map((event) => JSON.stringify(storedPayload(event))),
    events.map((event) => event.type),
    events.map((event) => event.taskId),
    events.map((event) => event.missionId ?? null),
    events.map((event) => event.generation),
    events.map((event) => event.version ?? null),
    events.map((event) => event.from),
    events.map((event) => event.to),
    events.map((event) => event.actor),
    events.map((event) => event.at),
  ])
  return [append, ...originsOf(workspaceId, events)]
}

// Key and address of the events that were just appended. Their numbers end at the counter, which is locked since then.
// $1 workspace, $2 how many events were appended, $3 places among them, $4 keys, $5 addresses.
const insertOrigins = sql.statement(
  'insert_event_origins',
  `insert into event_origins (workspace_id, seq, key_id, address)
   select $1, k.last_seq - $2::int + o.place, o.key_id, o.address
     from workspace_counters k, unnest($3::int[], $4::uuid[], $5::text[]) as o(place, key_id, address)
    where k.workspace_id = $1`,
)

function originsOf(workspaceId: number, events: readonly EventWithOrigin[]): Bound[] {
  const known: { place: number; keyId: string | null; address: string | null }[] = []
  events.forEach(({ keyId = null, address = null }, i) => {
    if (keyId !== null || address !== null) known.push({ place: i + 1, keyId, address })
  })
  if (known.length === 0) return []
  const columns = [
    known.map(({ place }) => place),
    known.map(({ keyId }) => keyId),
    known.map(({ address }) => address),
  ]
  return [[insertOrigins, [workspaceId, events.length, ...columns.map(arrayLiteral)]]]
}
