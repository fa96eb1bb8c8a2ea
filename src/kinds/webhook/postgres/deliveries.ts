import type pg from 'pg'
import { inside, insideByKeys } from '../../../postgres/statements/scoped-query.ts'
import type { DeliveryState } from '../rules/delivery.ts'

/** Deliveries as people see them. */

export interface DeliveryRow {
  seq: number
  type: string
  entity: string
  state: DeliveryState
  attempts: number
  firstAt: number | null
  lastAt: number | null
  nextAt: number | null
  durationMs: number | null
  httpStatus: number | null
  answer: string | null
  error: string | null
}

// Newest first. $1 workspace, $2 webhook, $3 before which number, $4 how many, $5 the only state, or null.
const LIST = `select d.seq, d.type, d.entity, d.state, d.attempts, ms(d.first_at) as "firstAt", ms(d.last_at) as "lastAt",
    ms(d.next_at) as "nextAt", d.duration_ms as "durationMs", d.http_status as "httpStatus", d.answer, d.error
   from webhook_deliveries d where d.workspace_id = $1 and d.webhook_id = $2 and ($3::bigint is null or d.seq < $3)
    and ($5::text is null or d.state = $5) order by d.seq desc limit $4`

export const listDeliveries = (
  pool: pg.Pool,
  workspaceId: number,
  webhookId: string,
  { before, state }: { before: number | undefined; state: DeliveryState | undefined },
  limit: number,
) =>
  inside<DeliveryRow & pg.QueryResultRow>(pool, workspaceId, LIST, [
    webhookId,
    before ?? null,
    limit,
    state ?? null,
  ])

/** How many rows one statement changes: a hundred thousand at once would hold up those who deliver. */
const AT_A_TIME = 2_000

const DUE_NOW = (changed: string) => `due as (
    update webhook_progress p set next_at = clock_timestamp(), held_until = null from webhooks w
     where p.workspace_id = $1 and p.webhook_id = $2 and w.workspace_id = $1 and w.webhook_id = $2 and w.state = 'active'
       and exists (select from ${changed}))
  select count(*)::int as count from ${changed}`

// In a lane of its own: what came after it has been sent, so it has no place in that order any more. $1 workspace, $2 webhook.
const again = (which: string) => `with again as (
    update webhook_deliveries d set state = 'retrying', next_at = clock_timestamp(), lane = 'again:' || d.seq, attempts = 0,
        first_at = null, last_at = null
     where d.workspace_id = $1 and d.webhook_id = $2 and d.seq in (
       select x.seq from webhook_deliveries x where x.workspace_id = $1 and x.webhook_id = $2 and ${which} for no key update)
    returning 1),
  ${DUE_NOW('again')}`
const ALL_AGAIN = again(`x.state = 'failed' order by x.seq limit ${AT_A_TIME}`)
// $3 which.
const ONE_AGAIN = again(`x.state in ('failed', 'delivered') and x.seq = $3`)

const changing = async (pool: pg.Pool, workspaceId: number, text: string, values: unknown[]) =>
  (await insideByKeys<{ count: number }>(pool, workspaceId, text, values))[0]!.count

/** Makes all deliveries due again that were given up. Returns how many. */
export async function redeliverFailed(pool: pg.Pool, workspaceId: number, webhookId: string) {
  for (let all = 0; ; ) {
    const count = await changing(pool, workspaceId, ALL_AGAIN, [webhookId])
    all += count
    if (count < AT_A_TIME) return all
  }
}

export const redeliverOne = (pool: pg.Pool, workspaceId: number, webhookId: string, seq: number) =>
  changing(pool, workspaceId, ONE_AGAIN, [webhookId, seq])

// A single one that is to be tried again later is tried now. $1 workspace, $2 webhook, $3 which.
const AT_ONCE = `with now as (
    update webhook_deliveries d set next_at = clock_timestamp()
     where d.workspace_id = $1 and d.webhook_id = $2 and d.seq = $3 and d.state = 'retrying' returning 1),
  ${DUE_NOW('now')}`

export const retryAtOnce = (pool: pg.Pool, workspaceId: number, webhookId: string, seq: number) =>
  changing(pool, workspaceId, AT_ONCE, [webhookId, seq])

export async function stateOfDelivery(pool: pg.Pool, workspaceId: number, webhookId: string, seq: number) {
  const text = `select d.state from webhook_deliveries d where d.workspace_id = $1 and d.webhook_id = $2 and d.seq = $3`
  const [row] = await inside<{ state: DeliveryState }>(pool, workspaceId, text, [webhookId, seq])
  return row?.state ?? null
}
