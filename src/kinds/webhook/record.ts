import { instant, int, json, orNull, type RecordOf, text, texts, uuid } from '../../pure/fields.ts'

/** An address of another program that is told of events. */

export const FORMATS = ['baton', 'mosaic', 'slack', 'discord', 'ntfy'] as const
export type Format = (typeof FORMATS)[number]

/** Disabled: Baton gave it up, as its receiver is gone or failed for days. */
export const WEBHOOK_STATES = ['active', 'paused', 'disabled'] as const
export type WebhookState = (typeof WEBHOOK_STATES)[number]

export const DISABLED_BECAUSE = ['gone', 'failing'] as const
export type DisabledBecause = (typeof DISABLED_BECAUSE)[number]

/** All that must stay secret of a webhook, in one column. Nothing else has any of it. */
export interface WebhookSecrets {
  /** With its tokens, as it was given. */
  url: string
  /** `whsec_` and base64. */
  signing: string
  /** The one before it, which signs as well until then. */
  former: { signing: string; until: number } | null
}

export const WEBHOOK_FIELDS = {
  webhookId: uuid(),
  name: text(),
  /** The address as people may see it. */
  shownUrl: text(),
  /** Types of events, and beginnings of types with an asterisk. */
  events: texts(),
  format: text<Format>(),
  state: text<WebhookState>(),
  disabledBecause: orNull(text<DisabledBecause>()),
  secrets: json<WebhookSecrets>(),
  version: int(),
  createdBy: text(),
  createdAt: instant(),
  updatedAt: instant(),
}

export interface WebhookRecord extends RecordOf<typeof WEBHOOK_FIELDS> {}
