import type pg from 'pg'
import { scopedQuery } from '../../../postgres/statements/scoped-query.ts'
import type { Format, WebhookSecrets } from '../record.ts'

/** An active webhook, as the leader keeps it in memory. */
export interface KnownWebhook {
  workspaceId: number
  workspaceUuid: string
  webhookId: string
  format: Format
  events: string[]
  secrets: WebhookSecrets
}

const ACTIVE = `select w.workspace_id as "workspaceId", x.uuid as "workspaceUuid", w.webhook_id as "webhookId", w.format, w.events, w.secrets
  from webhooks w join workspaces x on x.workspace_id = w.workspace_id where w.state = 'active' order by w.webhook_id limit 10000`

/** Of all workspaces. */
export const activeWebhooks = (pool: pg.Pool) =>
  scopedQuery<KnownWebhook & pg.QueryResultRow>(pool, 'baton.scope', 'upkeep', {
    name: 'active_webhooks',
    text: ACTIVE,
  })
