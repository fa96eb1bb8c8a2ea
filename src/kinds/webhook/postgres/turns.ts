import type pg from 'pg'
import { freshUuid } from '../../../kernel/fresh-uuid.ts'
import { BY_KEYS, inside, scopedQueries, scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import { EVENT_COLUMNS, readEvent } from '../../task/postgres/reader.ts'
import type { EventWithTask } from '../../task/record.ts'
import type { Format, WebhookSecrets, WebhookState } from '../record.ts'
import type { StoredDelivery, WrittenDelivery } from '../rules/turn.ts'

/** What those who deliver read and write: webhooks that are due, and their turns. */

export interface DueWebhook {
  workspaceId: number
  webhookId: string
}

// Webhooks with something to send, those that wait longest first. $1 the only workspace, or null, $2 those that are at it, $3 how many.
const DUE = `select p.workspace_id as "workspaceId", p.webhook_id as "webhookId" from webhook_progress p
  where p.next_at <= clock_timestamp() and ($1::int is null or p.workspace_id = $1) and p.webhook_id <> all($2::uuid[])
  order by p.next_at limit $3`

export const dueWebhooks = (
  pool: pg.Pool,
  busy: readonly string[],
  limit: number,
  only?: number,
): Promise<DueWebhook[]> =>
  scopedQuery<DueWebhook & pg.QueryResultRow>(pool, 'baton.scope', 'upkeep', {
    name: 'due_webhooks',
    text: DUE,
    values: [only ?? null, busy, limit],
  })

/** The patterns of each webhook of a workspace, also of those that are not active: they are told when they are resumed. */
export const patternsIn = (pool: pg.Pool, workspaceId: number) =>
  inside<{ webhookId: string; events: string[] }>(
    pool,
    workspaceId,
    'select w.webhook_id as "webhookId", w.events from webhooks w where w.workspace_id = $1',
  )

// There are events for these webhooks. One that has sent all before skips what is not for it. $1 workspace, $2 ids, $3 the first number
// that is for each, $4 the last.
const TELL = `update webhook_progress p set
    seq = case when p.seq >= p.told_seq then greatest(p.seq, u.first - 1) else p.seq end,
    told_seq = greatest(p.told_seq, u.last),
    next_at = case when w.state = 'active'
      then least(p.next_at, greatest(clock_timestamp(), p.held_until)) end
   from unnest($2::uuid[], $3::bigint[], $4::bigint[]) as u(webhook_id, first, last), webhooks w
  where p.workspace_id = $1 and p.webhook_id = u.webhook_id and u.last > p.told_seq
    and w.workspace_id = p.workspace_id and w.webhook_id = p.webhook_id`

export interface ToldRange {
  webhookId: string
  first: number
  last: number
}

export const tellWebhooks = (pool: pg.Pool, workspaceId: number, told: readonly ToldRange[]) =>
  inside(pool, workspaceId, TELL, [
    told.map(({ webhookId }) => webhookId),
    told.map(({ first }) => first),
    told.map(({ last }) => last),
  ])

export interface TurnBegun {
  turn: string
  version: number
  state: WebhookState
  format: Format
  events: string[]
  secrets: WebhookSecrets
  workspaceUuid: string
  seq: number
  toldSeq: number
  holds: number
  failingForMs: number | null
}

const BEGUN = `select p.turn, w.version, w.state, w.format, w.events, w.secrets, x.uuid as "workspaceUuid", p.seq,
    p.told_seq as "toldSeq", p.holds, (extract(epoch from clock_timestamp() - p.failing_since) * 1000)::float8 as "failingForMs"
   from webhook_progress p join webhooks w on w.workspace_id = p.workspace_id and w.webhook_id = p.webhook_id
   join workspaces x on x.workspace_id = p.workspace_id
  where p.workspace_id = $1 and p.webhook_id = $2`

/** How much one turn takes on: events, and rows of lanes that are due. */
const MOST_EVENTS = 250
const MOST_LANES = 50
export const MOST_OF_A_LANE = 50
/** And of their payloads: memory is bounded, however many webhooks have a turn. */
const MOST_BYTES = 1_000_000
/** How far one turn looks for events that are wanted. */
const LOOKED_AT = 20_000

// The rows of lanes whose first one is due, each lane from its beginning.
const ROWS = `with due as materialized (
    select distinct x.lane from (select d.lane from webhook_deliveries d where d.workspace_id = $1 and d.webhook_id = $2
       and d.state = 'retrying' and d.next_at <= clock_timestamp() order by d.next_at limit ${MOST_LANES}) x)
  select d.seq, d.type, d.entity, d.lane, d.attempts, ms(d.first_at) as "firstAt" from due
   cross join lateral (select r.* from webhook_deliveries r where r.workspace_id = $1 and r.webhook_id = $2 and r.lane = due.lane
      and r.state in ('retrying', 'waiting') order by r.seq limit ${MOST_OF_A_LANE}) d
  order by d.seq`

// The next events that are for it. $3 patterns of LIKE.
const FRESH = `with e as materialized (
    select e.* from webhook_progress p cross join lateral (
      select e.* from events e where e.workspace_id = $1 and e.seq > p.seq and e.seq <= least(p.told_seq, p.seq + ${LOOKED_AT})
         and e.type like any($3::text[]) order by e.seq limit ${MOST_EVENTS}) e
     where p.workspace_id = $1 and p.webhook_id = $2),
  weighed as (select e.*, count(*) over () as found,
      sum(pg_column_size(e.payload)) over (order by e.seq) - pg_column_size(e.payload) as before from e)
  select ${EVENT_COLUMNS}, e.found from weighed e where e.before <= ${MOST_BYTES} order by e.seq`

export interface TurnRead {
  rows: StoredDelivery[]
  fresh: EventWithTask[]
  /** How far the log is handled when all of that is. */
  upTo: number
}

/** What is written depends on `turn`: it does not matter what changes until then. Null: there is no such webhook. */
export async function beginTurn(
  pool: pg.Pool,
  { workspaceId, webhookId }: DueWebhook,
): Promise<TurnBegun | null> {
  const [begun] = await inside<TurnBegun & pg.QueryResultRow>(pool, workspaceId, BEGUN, [webhookId])
  return begun ?? null
}

const likes = (patterns: readonly string[]) =>
  patterns.map((pattern) => pattern.replace(/_/g, '\\_').replace(/\*$/, '%'))

export async function readTurn(
  pool: pg.Pool,
  { workspaceId, webhookId }: DueWebhook,
  { events, seq, toldSeq }: Pick<TurnBegun, 'events' | 'seq' | 'toldSeq'>,
): Promise<TurnRead> {
  const values = [workspaceId, webhookId]
  const fresh = { text: FRESH, values: [...values, likes(events)], rowMode: 'array' as const }
  const asked = [BY_KEYS, { text: ROWS, values, rowMode: 'array' as const }, fresh]
  const [, rows, found] = await scopedQueries<unknown[]>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    asked,
  )
  const news = found!.map((row) => readEvent(row))
  const isFull = news.length === MOST_EVENTS || (found![0]?.at(-1) ?? 0) !== news.length
  return {
    rows: rows!.map(readRow),
    fresh: news,
    upTo: isFull ? news.at(-1)!.seq : Math.max(seq, Math.min(toldSeq, seq + LOOKED_AT)),
  }
}

const readRow = (row: unknown[]): StoredDelivery => {
  const [seq, type, entity, lane, attempts, firstAt] = row as [
    number,
    string,
    string,
    string,
    number,
    number | null,
  ]
  return { seq, type, entity, lane, attempts, firstAt }
}

/** Which of these lanes have a row that waits, and the events of stored rows. */
export async function readBesides(
  pool: pg.Pool,
  { workspaceId, webhookId }: DueWebhook,
  lanes: readonly string[],
  seqs: readonly number[],
): Promise<{ open: Set<string>; events: EventWithTask[] }> {
  const open = {
    text: `select l.lane from unnest($3::text[]) as l(lane) where exists (select from webhook_deliveries d where d.workspace_id = $1
       and d.webhook_id = $2 and d.lane = l.lane and d.state in ('retrying', 'waiting'))`,
    values: [workspaceId, webhookId, lanes],
    rowMode: 'array' as const,
  }
  const events = {
    text: `select ${EVENT_COLUMNS} from unnest($2::bigint[]) as n(seq) join events e on e.workspace_id = $1 and e.seq = n.seq`,
    values: [workspaceId, seqs],
    rowMode: 'array' as const,
  }
  const [, lanesFound, found] = await scopedQueries<unknown[]>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    [...[BY_KEYS, open, events]],
  )
  return {
    open: new Set(lanesFound!.map(([lane]) => lane as string)),
    events: found!.map((row) => readEvent(row)),
  }
}

// What could not even be tried is tried again later.
const POSTPONE = `update webhook_progress p set next_at = clock_timestamp() + interval '30 seconds'
  where p.workspace_id = $1 and p.webhook_id = $2 and p.next_at is not null`

export const postponeTurn = (pool: pg.Pool, { workspaceId, webhookId }: DueWebhook) =>
  inside(pool, workspaceId, POSTPONE, [webhookId])

export interface TurnEnd {
  seq: number
  rows: readonly WrittenDelivery[]
  lanes: readonly string[]
  dropped: readonly number[]
  delivered: number
  failed: number
  /** For how long nothing is sent; null: it is not held. */
  heldForMs: number | null
  holds: number
}

// Whoever began with an older turn writes nothing. $3 the turn, $4 the next one, $5 how far the log is handled, $6 whether something has
// arrived, $7 whether something has failed, $8 for how long it is held, $9 how often in a row.
const END = `update webhook_progress p set turn = $4, seq = greatest(p.seq, $5),
    last_delivered_at = case when $6 then clock_timestamp() else p.last_delivered_at end,
    failing_since = case when $6 then null when $7 then coalesce(p.failing_since, clock_timestamp()) else p.failing_since end,
    held_until = clock_timestamp() + $8::float8 * interval '1 millisecond', holds = $9
  where p.workspace_id = $1 and p.webhook_id = $2 and p.turn = $3 returning true as done`

const IS_MINE = `exists (select from webhook_progress m where m.workspace_id = $1 and m.webhook_id = $2 and m.turn = $3)`
const AT = (column: string) => `to_timestamp(u.${column} / 1000)`

// $4 to $16 the columns of the rows.
const WRITE = `insert into webhook_deliveries as d (workspace_id, webhook_id, seq, type, entity, lane, state, attempts, first_at, last_at,
    next_at, duration_ms, http_status, answer, error)
  select $1, $2, u.seq, u.type, u.entity, u.lane, u.state, u.attempts, ${AT('first_at')}, ${AT('last_at')},
      clock_timestamp() + u.retry_in_ms * interval '1 millisecond', u.duration_ms, u.http_status, u.answer, u.error
    from unnest($4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int[], $10::float8[], $11::float8[], $12::float8[],
      $13::int[], $14::int[], $15::text[], $16::text[])
      as u(seq, type, entity, lane, state, attempts, first_at, last_at, retry_in_ms, duration_ms, http_status, answer, error)
   where ${IS_MINE}
  on conflict (workspace_id, webhook_id, seq) do update set state = excluded.state, attempts = excluded.attempts,
    first_at = excluded.first_at, last_at = excluded.last_at, next_at = excluded.next_at, duration_ms = excluded.duration_ms,
    http_status = excluded.http_status, answer = excluded.answer, error = excluded.error`

// $4 numbers.
const DROP = `delete from webhook_deliveries d where d.workspace_id = $1 and d.webhook_id = $2 and d.seq = any($4::bigint[]) and ${IS_MINE}`

// The first row of a lane that nothing is due for is due now. $4 lanes.
const PROMOTE = `update webhook_deliveries d set state = 'retrying', next_at = clock_timestamp()
   from unnest($4::text[]) as l(lane) cross join lateral (
     select r.seq, r.state from webhook_deliveries r where r.workspace_id = $1 and r.webhook_id = $2 and r.lane = l.lane
        and r.state in ('retrying', 'waiting') order by r.seq limit 1) h
  where d.workspace_id = $1 and d.webhook_id = $2 and d.seq = h.seq and h.state = 'waiting' and ${IS_MINE}`

const KEPT_DELIVERED = 1_000
const KEPT_FAILED = '30 days'
const TRIM = `delete from webhook_deliveries d where d.workspace_id = $1 and d.webhook_id = $2 and d.state = 'delivered' and d.seq <= (
    select x.seq from webhook_deliveries x where x.workspace_id = $1 and x.webhook_id = $2 and x.state = 'delivered'
     order by x.seq desc offset ${KEPT_DELIVERED} limit 1) and ${IS_MINE}`
const FORGET = `delete from webhook_deliveries d where d.workspace_id = $1 and d.webhook_id = $2 and d.seq in (
    select x.seq from webhook_deliveries x where x.workspace_id = $1 and x.webhook_id = $2 and x.state = 'failed'
     order by x.seq limit 100) and d.last_at < clock_timestamp() - interval '${KEPT_FAILED}' and ${IS_MINE}`

const SOMETHING_AT = `least(case when p.seq < p.told_seq then clock_timestamp() end,
    (select min(d.next_at) from webhook_deliveries d where d.workspace_id = $1 and d.webhook_id = $2 and d.state = 'retrying'))`
// When there is something to send. Without anything, it does not matter that it is held.
const NEXT = `update webhook_progress p set
    next_at = case when w.state = 'active' and ${SOMETHING_AT} is not null then greatest(p.held_until, ${SOMETHING_AT}) end
    from webhooks w
   where p.workspace_id = $1 and p.webhook_id = $2 and p.turn = $3 and w.workspace_id = $1 and w.webhook_id = $2
  returning coalesce(p.next_at <= clock_timestamp(), false) as "isDue"`

const column = <K extends keyof WrittenDelivery>(rows: readonly WrittenDelivery[], name: K) =>
  rows.map((row) => row[name])

/** Writes a turn down. Returns whether more is due; null: it was somebody else's turn meanwhile, and nothing is written. */
export async function endTurn(
  pool: pg.Pool,
  { workspaceId, webhookId }: DueWebhook,
  turn: string,
  { seq, rows, lanes, dropped, delivered, failed, heldForMs, holds }: TurnEnd,
): Promise<boolean | null> {
  const next = freshUuid()
  const mine = [workspaceId, webhookId, next]
  const columns = [
    ...(['seq', 'type', 'entity', 'lane', 'state', 'attempts', 'firstAt', 'lastAt', 'retryInMs'] as const),
    ...(['durationMs', 'httpStatus', 'answer', 'error'] as const),
  ].map((name) => column(rows, name))
  const end = [workspaceId, webhookId, turn, next, seq, delivered > 0, failed > 0, heldForMs, holds]
  const statements = [
    { text: END, values: end },
    ...(rows.length > 0 ? [{ text: WRITE, values: [...mine, ...columns] }] : []),
    ...(dropped.length > 0 ? [{ text: DROP, values: [...mine, dropped] }] : []),
    ...(lanes.length > 0 ? [{ text: PROMOTE, values: [...mine, lanes] }] : []),
    ...(delivered > 0 ? [{ text: TRIM, values: mine }] : []),
    ...(failed > 0 ? [{ text: FORGET, values: mine }] : []),
    { text: NEXT, values: mine },
  ]
  const answers = await scopedQueries<{ done?: boolean; isDue?: boolean }>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    [BY_KEYS, ...statements],
  )
  return answers[1]!.length === 0 ? null : answers.at(-1)![0]!.isDue!
}
