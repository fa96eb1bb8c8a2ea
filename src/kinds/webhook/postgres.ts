import type pg from 'pg'
import type { Changes, View } from '../../kernel/batch/requests.ts'
import { freshUuid } from '../../kernel/fresh-uuid.ts'
import { WEBHOOKS } from '../../kernel/store/log-followers.ts'
import { LAST_SEQ } from '../../postgres/statements/log-head.ts'
import { plainKind } from '../../postgres/statements/plain-kind.ts'
import { plainRows } from '../../postgres/statements/plain-rows.ts'
import { arrayLiteral } from '../../postgres/statements/rows.ts'
import { inside } from '../../postgres/statements/scoped-query.ts'
import { type Bound, statement } from '../../postgres/statements/statements.ts'
import type { StoredKind } from '../../postgres/statements/stored-kind.ts'
import { WEBHOOK_FIELDS, type WebhookRecord } from './record.ts'

/** Webhooks as rows. How far each is, and its deliveries, are tables beside them, which go with them. */

const rows = plainRows('webhooks', WEBHOOK_FIELDS)

// From the event that made it: what came before is nothing to it. $1 workspace, $2 ids, $3 turns.
const begin = statement(
  'begin_webhooks',
  `insert into webhook_progress (workspace_id, webhook_id, seq, told_seq, turn)
   select $1, u.webhook_id, c.last_seq, c.last_seq, u.turn
     from unnest($2::uuid[], $3::uuid[]) as u(webhook_id, turn), workspace_counters c where c.workspace_id = $1`,
)

// Where an earlier version made the workspace, and is still the leader. $1 workspace.
const follow = statement(
  'follow_for_webhooks',
  `insert into log_cursors (workspace_id, follower, seq) select $1, '${WEBHOOKS}', ${LAST_SEQ} on conflict do nothing`,
)

// It may be another address now, or active again: nothing that was true of the one before holds it. $1 workspace, $2 ids.
const goOn = statement(
  'change_webhook_progress',
  `update webhook_progress p set held_until = null, holds = 0, failing_since = null,
      next_at = case when w.state = 'active' then clock_timestamp() end
     from webhooks w where p.workspace_id = $1 and p.webhook_id = any($2::uuid[])
      and w.workspace_id = p.workspace_id and w.webhook_id = p.webhook_id`,
)

const plain = plainKind('webhook', { rows, may: 'select, insert, update, delete', reads: 'true' })

export const storedWebhooks: StoredKind<'webhook'> = {
  ...plain,
  tables: {
    ...plain.tables,
    webhook_progress: 'select, insert, update, delete',
    webhook_deliveries: 'select, insert, update, delete',
  },
  due: ['select min(p.next_at) from webhook_progress p where p.next_at is not null'],
  write(workspaceId: number, view: View, changes: Changes): Bound[] {
    const { seen } = view.kinds.webhook
    const ids = changes.kinds.webhook.written.map(({ webhookId }) => webhookId)
    const fresh = ids.filter((id) => !seen.has(id))
    const known = ids.filter((id) => seen.has(id))
    const writes = plain.write(workspaceId, view, changes)
    if (fresh.length > 0)
      writes.push([begin, [workspaceId, arrayLiteral(fresh), arrayLiteral(fresh.map(() => freshUuid()))]])
    if (fresh.length > 0) writes.push([follow, [workspaceId]])
    if (known.length > 0) writes.push([goOn, [workspaceId, arrayLiteral(known)]])
    return writes
  },
}

/** A webhook, and how it goes. */
export interface WebhookSeen extends WebhookRecord {
  behind: number
  waiting: number
  failed: number
  lastDeliveredAt: number | null
  failingSince: number | null
  heldUntil: number | null
}

const MOST_COUNTED = 1_000
const counted = (states: string) =>
  `(select count(*)::int from (select from webhook_deliveries d where d.workspace_id = w.workspace_id
      and d.webhook_id = w.webhook_id and d.state in (${states}) limit ${MOST_COUNTED}) n)`

const SEEN = `${rows.named('w')}, ms(p.last_delivered_at) as "lastDeliveredAt", ms(p.failing_since) as "failingSince",
    case when p.held_until > clock_timestamp() then ms(p.held_until) end as "heldUntil",
    greatest(p.told_seq - p.seq, 0) as behind, ${counted(`'retrying', 'waiting'`)} as waiting, ${counted(`'failed'`)} as failed
  from webhooks w join webhook_progress p on p.workspace_id = w.workspace_id and p.webhook_id = w.webhook_id`

/** Oldest first, after this one. */
export const listWebhooks = (pool: pg.Pool, workspaceId: number, after: string | undefined, limit: number) =>
  inside<WebhookSeen & pg.QueryResultRow>(
    pool,
    workspaceId,
    `select ${SEEN} where w.workspace_id = $1 and ($2::uuid is null or w.webhook_id > $2) order by w.webhook_id limit $3`,
    [after ?? null, limit],
  )

export async function findWebhook(pool: pg.Pool, workspaceId: number, webhookId: string) {
  const text = `select ${SEEN} where w.workspace_id = $1 and w.webhook_id = $2`
  const [found] = await inside<WebhookSeen & pg.QueryResultRow>(pool, workspaceId, text, [webhookId])
  return found ?? null
}
