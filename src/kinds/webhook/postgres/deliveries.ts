import type pg from 'pg'
import { inside } from '../../../postgres/statements/scoped-query.ts'
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

// In a lane of its own: what came after it has been sent, so it has no place in that order any more. $1 workspace, $2 webhook, $3 the
// only one, or null, $4 states, $5 how many.
const AGAIN = `with again as (
    update webhook_deliveries d set state = 'retrying', next_at = clock_timestamp(), lane = 'again:' || d.seq, attempts = 0,
        first_at = null, last_at = null
     where d.workspace_id = $1 and d.webhook_id = $2 and d.seq in (
       select x.seq from webhook_deliveries x where x.workspace_id = $1 and x.webhook_id = $2 and x.state = any($4::text[])
          and ($3::bigint is null or x.seq = $3) order by x.seq limit $5 for no key update)
    returning 1),
  due as (
    update webhook_progress p set next_at = clock_timestamp(), held_until = null from webhooks w
     where p.workspace_id = $1 and p.webhook_id = $2 and w.workspace_id = $1 and w.webhook_id = $2 and w.state = 'active'
       and exists (select from again))
  select count(*)::int as count from again`

/** Makes deliveries due again: one, or all that were given up. Returns how many. */
export async function redeliver(
  pool: pg.Pool,
  workspaceId: number,
  webhookId: string,
  seq: number | null,
): Promise<number> {
  const states = seq === null ? ['failed'] : ['failed', 'delivered']
  for (let all = 0; ; ) {
    const values = [webhookId, seq, states, AT_A_TIME]
    const [row] = await inside<{ count: number }>(pool, workspaceId, AGAIN, values)
    all += row!.count
    if (row!.count < AT_A_TIME) return all
  }
}

// A single one that is to be tried again later is tried now. $1 workspace, $2 webhook, $3 which.
const AT_ONCE = `with now as (
    update webhook_deliveries d set next_at = clock_timestamp()
     where d.workspace_id = $1 and d.webhook_id = $2 and d.seq = $3 and d.state = 'retrying' returning 1),
  due as (
    update webhook_progress p set next_at = clock_timestamp(), held_until = null from webhooks w
     where p.workspace_id = $1 and p.webhook_id = $2 and w.workspace_id = $1 and w.webhook_id = $2 and w.state = 'active'
       and exists (select from now))
  select count(*)::int as count from now`

export async function retryAtOnce(pool: pg.Pool, workspaceId: number, webhookId: string, seq: number) {
  const [row] = await inside<{ count: number }>(pool, workspaceId, AT_ONCE, [webhookId, seq])
  return row!.count
}

export async function stateOfDelivery(pool: pg.Pool, workspaceId: number, webhookId: string, seq: number) {
  const text = `select d.state from webhook_deliveries d where d.workspace_id = $1 and d.webhook_id = $2 and d.seq = $3`
  const [row] = await inside<{ state: DeliveryState }>(pool, workspaceId, text, [webhookId, seq])
  return row?.state ?? null
}
