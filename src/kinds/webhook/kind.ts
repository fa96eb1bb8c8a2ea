import { secretWasGiven } from '../../pure/repeated.ts'
import type { Kind } from '../kind.ts'
import type { KindGranted } from '../replies.ts'
import type { WebhookRecord } from './record.ts'
import { decideWebhook, type WebhookCommand } from './rules.ts'

export interface WebhookTypes {
  record: WebhookRecord
  command: WebhookCommand
  granted: KindGranted & { readonly record: WebhookRecord }
  extra: object
}

declare module '../kind.ts' {
  interface KindTypes {
    webhook: WebhookTypes
  }
}

const NONE = { url: '', signing: '', former: null }

/** Webhooks. Commands see all of a workspace: how many there may be is limited. */
export const webhookKind: Kind<WebhookTypes> = {
  keyOf: ({ webhookId }) => webhookId,
  holderOf: () => null,
  mayHoldBeforeItExists: false,
  counts: () => false,
  decide: (before, { key }, command, { now, origin, all }) => ({
    ...decideWebhook(before, key, command, { now, origin, count: all().length }),
    settle: () => null,
  }),
  granted: ({ record, before }) => ({
    ...{ ok: true, reason: 'DONE', record: (record ?? before)!, isNew: before === null },
  }),
  // Every record has its key, and replies are stored under their idempotency keys.
  repeated: ({ record: { webhookId, secrets: _secrets, ...shown }, isNew }, command) =>
    isNew || command.kind === 'rotate'
      ? secretWasGiven(`a key of the webhook ${webhookId}`)
      : { ok: true, reason: 'DONE', isNew, record: { ...shown, webhookId, secrets: NONE } },
}
