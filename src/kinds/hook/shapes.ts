import { z } from 'zod'
import { Name, ShortText, Slug, Tag, Text, Title, Uuid } from '../../pure/shapes.ts'
import { DONE_KINDS, VERDICTS } from '../hook-delivery/record.ts'
import { HOOK_SCHEMES } from './record.ts'

const NOT_A_POINTER = { error: 'must be a JSON pointer such as "/issue/title"' }
const Pointer = z
  .string()
  .max(500)
  .regex(/^(?:\/(?:[^~/]|~[01])*)+$/, NOT_A_POINTER)

const PUT_IN = '`{{/issue/title}}` is replaced by what the payload has there'

const Wake = z.strictObject({
  kind: z.literal('wake'),
  agent: Slug.describe('An agent that Baton runs, and that other programs may wake'),
  reason: ShortText.nullable().default(null).describe(`What it is to do; ${PUT_IN}`),
})
const NewTask = z.strictObject({
  kind: z.literal('task'),
  title: Title.describe(PUT_IN),
  description: Text.nullable().default(null).describe(PUT_IN),
  project: Slug.nullable().default(null),
  agent: Slug.nullable().default(null).describe('Only this agent may claim the task'),
  taskType: Tag.nullable().default(null),
  priority: z.int().min(1).max(10).default(5),
  tags: z.array(Tag).max(50).default([]),
})
const MOST_VARIABLES = 100
const Start = z.strictObject({
  kind: z.literal('routine'),
  routine: Uuid,
  variables: z
    .record(z.string().max(64), Pointer)
    .refine((variables) => Object.keys(variables).length <= MOST_VARIABLES, {
      message: `has more than ${MOST_VARIABLES} variables`,
    })
    .default({})
    .describe('Variables of the routine, each with the JSON pointer to its value in the payload'),
})
const Does = z.discriminatedUnion('kind', [Wake, NewTask, Start])

const Condition = z.strictObject({
  at: Pointer,
  is: z.array(ShortText).min(1).max(50).describe('Numbers, true and false are compared as text'),
})

const HIGHEST_PER_MINUTE = 6_000
const settings = {
  does: Does,
  events: z
    .array(Name)
    .max(50)
    .describe('Only these: the X-GitHub-Event, the X-Gitlab-Event, or the "type" of the payload. None: all'),
  conditions: z
    .array(Condition)
    .max(20)
    .describe('Only payloads that have one of these values at each of these JSON pointers'),
  perMinute: z
    .int()
    .min(1)
    .max(HIGHEST_PER_MINUTE)
    .describe('How many deliveries it takes in a minute; more are answered with 429'),
  enabled: z.boolean(),
}

const USUAL_PER_MINUTE = 120
const SHORTEST_SECRET = 16

export const HookCreate = z.strictObject({
  name: Slug.describe('What it does is done by "hook:<name>". It cannot be changed'),
  scheme: z.enum(HOOK_SCHEMES).describe('How a delivery proves where it comes from'),
  secret: z
    .string()
    .min(SHORTEST_SECRET)
    .max(200)
    .regex(/^[\x21-\x7e]+$/)
    .optional()
    .describe('For senders that give one. Without it Baton makes one, and shows it once'),
  does: settings.does,
  events: settings.events.default([]),
  conditions: settings.conditions.default([]),
  perMinute: settings.perMinute.default(USUAL_PER_MINUTE),
  enabled: settings.enabled.default(true),
})

export const HookPatch = z.strictObject({
  does: settings.does.optional(),
  events: settings.events.optional(),
  conditions: settings.conditions.optional(),
  perMinute: settings.perMinute.optional(),
  enabled: settings.enabled.optional(),
})

export const HookParams = z.object({ id: Uuid })

export const HookView = z.object({
  id: Uuid,
  name: z.string(),
  scheme: z.enum(HOOK_SCHEMES),
  path: z.string().describe('Where deliveries are sent, without the token of a secret URL'),
  does: Does,
  events: z.array(z.string()),
  conditions: z.array(Condition),
  perMinute: z.int(),
  enabled: z.boolean(),
  previousSecretUntil: z
    .string()
    .nullable()
    .describe('Until then the secret before the last rotation is valid, too'),
  lastDelivery: z.object({ receivedAt: z.string(), verdict: z.enum(VERDICTS) }).nullable(),
  createdBy: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  version: z.int(),
})

/** The only answers with a secret. */
export const HookWithSecret = HookView.extend({
  secret: z.string().nullable().describe('Shown now and never again; null: the request gave it'),
  path: z.string().describe('Where deliveries are sent; of a secret URL with its token'),
})

export const HookDeliveryView = z.object({
  id: Uuid,
  receivedAt: z.string(),
  address: z.string().nullable(),
  sentAs: z.string().nullable().describe('The id that the sender gave'),
  event: z.string().nullable(),
  bytes: z.int(),
  verdict: z.enum(VERDICTS),
  reason: z.string().nullable(),
  made: z
    .object({ kind: z.enum(DONE_KINDS), id: Uuid })
    .nullable()
    .describe('The wakeup, task or mission that it made'),
  repeats: z.int().describe('How often it came again, and did nothing'),
})

export const DeliveryQuery = z.strictObject({
  token: z.string().min(1).max(300).optional().describe('Of a secret URL'),
})

export const DeliveryAnswer = z.object({
  id: Uuid,
  verdict: z.enum(VERDICTS),
  reason: z.string().nullable(),
  isRepeat: z.boolean().describe('It came before, and did what it does then'),
})

export const HookTest = z.strictObject({
  payload: z.unknown(),
  event: Name.optional().describe('As the sender would call it in its header'),
})

export const HookTestAnswer = z.object({
  verdict: z.enum(['done', 'ignored', 'failed']),
  reason: z.string().nullable(),
  would: z
    .object({
      make: z.enum(DONE_KINDS),
      agent: z.string().nullable(),
      title: z.string().nullable(),
      text: z.string().nullable().describe('The reason, the description or the goal'),
      variables: z.record(z.string(), z.unknown()).nullable(),
    })
    .nullable(),
})
