import type pg from 'pg'
import { plainKind } from '../../postgres/statements/plain-kind.ts'
import { plainRows } from '../../postgres/statements/plain-rows.ts'
import { inside, scopedQuery } from '../../postgres/statements/scoped-query.ts'
import type { StoredKind } from '../../postgres/statements/stored-kind.ts'
import { HOOK_DELIVERY_FIELDS, type HookDeliveryRecord } from './record.ts'

const rows = plainRows('hook_deliveries', HOOK_DELIVERY_FIELDS)

export const storedHookDeliveries: StoredKind<'hookDelivery'> = {
  ...plainKind('hookDelivery', { rows, may: 'select, insert, update, delete' }),
  firstCome: ['hook_deliveries_pkey'],
}

// Newest first, those before $3. $1 workspace, $2 hook, $4 how many.
const LIST = `select ${rows.named('d')} from hook_deliveries d
  where d.workspace_id = $1 and d.hook_id = $2 and ($3::uuid is null or d.delivery_id < $3)
  order by d.delivery_id desc limit $4`

export const listDeliveries = (
  pool: pg.Pool,
  workspaceId: number,
  hookId: string,
  before: string | undefined,
  limit: number,
) => inside<HookDeliveryRecord & pg.QueryResultRow>(pool, workspaceId, LIST, [hookId, before ?? null, limit])

// Whether a delivery is known under this key. $1 workspace, $2 key.
const IS_KNOWN = 'select from hook_deliveries where workspace_id = $1 and key = $2'

export const isKnown = async (pool: pg.Pool, workspaceId: number, key: string): Promise<boolean> =>
  (await inside(pool, workspaceId, IS_KNOWN, [key])).length > 0

/** Senders repeat within days. What did nothing is kept for as long: people look for it. */
const KEPT_DAYS = 3
const MOST_AT_ONCE = 10_000

// Some of those that are past their time, then hooks that were removed before.
const FORGET = `delete from hook_deliveries where (workspace_id, key) in (
  select workspace_id, key from hook_deliveries where received_at < clock_timestamp() - interval '${KEPT_DAYS} days'
  order by received_at limit ${MOST_AT_ONCE}) returning 1`
const FORGET_HOOKS = `delete from hooks h where h.removed_at < clock_timestamp() - interval '${KEPT_DAYS + 1} days'
  and not exists (select from hook_deliveries d where d.workspace_id = h.workspace_id and d.hook_id = h.hook_id)`

export async function forgetOldDeliveries(pool: pg.Pool): Promise<void> {
  const upkeep = (text: string) => scopedQuery<unknown[]>(pool, 'baton.scope', 'upkeep', { text })
  while ((await upkeep(FORGET)).length === MOST_AT_ONCE);
  await upkeep(FORGET_HOOKS)
}
