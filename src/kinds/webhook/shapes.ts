import { z } from 'zod'
import { limitUpTo, Name, Uuid } from '../../pure/shapes.ts'
import { DISABLED_BECAUSE, FORMATS, WEBHOOK_STATES } from './record.ts'
import { DELIVERY_STATES } from './rules/delivery.ts'
import { NOT_A_SECRET } from './rules/signing.ts'

const LONGEST_URL = 2_000
const MOST_PATTERNS = 100

const Url = z
  .string()
  .min(1)
  .max(LONGEST_URL)
  .describe('http or https. What may be a token in it is shown to nobody afterwards')
const Pattern = z
  .string()
  .max(100)
  .regex(/^([a-z]+([._][a-z]+)*([._]?\*)?|\*)$/, {
    error: 'must be a type of event, such as "task_failed", or the beginning of one, such as "task_*"',
  })
const SigningSecret = z
  .string()
  .max(200)
  .regex(/^whsec_[A-Za-z0-9+/]+={0,2}$/, { error: NOT_A_SECRET })
const MOST_HOURS = 168
const USUAL_HOURS = 24

const settings = {
  url: Url,
  events: z.array(Pattern).min(1).max(MOST_PATTERNS),
  name: Name.optional().describe('Default: the host of its address'),
  format: z
    .enum(FORMATS)
    .optional()
    .describe(
      "What it is sent: Baton's events (the default), Mosaic's task.status_changed, or a line of text for Slack, Discord or ntfy",
    ),
}

export const WebhookBody = z.strictObject({
  ...settings,
  secret: SigningSecret.optional().describe('The key that signs; default: a new one'),
})

export const WebhookPatch = z.strictObject(settings).partial()

export const WebhookParams = z.object({ id: Uuid })

export const RotateBody = z.strictObject({
  secret: SigningSecret.optional().describe('The new key; default: one is made'),
  keepHours: z
    .int()
    .min(0)
    .max(MOST_HOURS)
    .default(USUAL_HOURS)
    .describe('How long the former key signs as well'),
})

export const RedeliverBody = z.strictObject({
  delivery: Name.optional().describe('The id of one delivery; default: all that have failed'),
})

const COUNTED = 'Counted up to 1000'

export const WebhookView = z.object({
  id: Uuid,
  name: z.string(),
  url: z.string().describe('Without what may be a token'),
  events: z.array(z.string()),
  format: z.enum(FORMATS),
  state: z.enum(WEBHOOK_STATES),
  disabledBecause: z.enum(DISABLED_BECAUSE).nullable(),
  secretHint: z.string().describe('The end of the key that signs'),
  formerSecretUntil: z.string().nullable().describe('Until then the key before it signs as well'),
  behind: z.int().describe('How many numbers of the log it has not been told of yet'),
  waiting: z
    .int()
    .describe(`Deliveries that failed and are tried again, and what waits behind them. ${COUNTED}`),
  failed: z.int().describe(`Deliveries that were given up. ${COUNTED}`),
  lastDeliveredAt: z.string().nullable(),
  failingSince: z.string().nullable().describe('Since when nothing has arrived'),
  heldUntil: z
    .string()
    .nullable()
    .describe('Until then nothing is sent: its receiver fails, or asked for it'),
  version: z.int(),
  createdBy: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

/** The only answers that have the key. */
export const WebhookMade = WebhookView.extend({ secret: z.string().describe('Shown once') })

const attempt = {
  httpStatus: z.int().nullable().describe('Of the last answer; null: there was none'),
  durationMs: z.int().nullable(),
  answer: z.string().nullable().describe('The beginning of the body of the last answer'),
  error: z.string().nullable().describe('Why the last attempt did not succeed'),
}

export const DeliveryView = z.object({
  id: z.string().describe('The webhook-id of every attempt'),
  seq: z.int().describe('The number of the event in the log'),
  type: z.string(),
  entityType: z.string(),
  entityId: z.string().nullable(),
  state: z
    .enum(DELIVERY_STATES)
    .describe('waiting: for a delivery before it about the same thing; failed: given up'),
  attempts: z.int(),
  ...attempt,
  firstAttemptAt: z.string().nullable(),
  lastAttemptAt: z.string().nullable(),
  nextAttemptAt: z.string().nullable(),
})

export const DeliveryQuery = z.strictObject({
  state: z.enum(DELIVERY_STATES).optional(),
  cursor: Name.optional(),
  limit: limitUpTo(200),
})

export const TestAnswer = z.object({ id: z.string(), isDelivered: z.boolean(), ...attempt })

export const RedeliverAnswer = z.object({ count: z.int().describe('How many are sent again') })
