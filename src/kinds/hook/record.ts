import { boolean, instant, int, json, orNull, type RecordOf, text, texts, uuid } from '../../pure/fields.ts'

/** How a caller proves that a delivery is its own. */
export const HOOK_SCHEMES = ['standard_webhooks', 'github', 'gitlab', 'secret_url'] as const
export type HookScheme = (typeof HOOK_SCHEMES)[number]

/** What a delivery does. Texts may contain `{{/pointer}}`: what the payload has there is put in, as material. */
export type HookDoes =
  | { kind: 'wake'; agent: string; reason: string | null }
  | {
      kind: 'task'
      title: string
      description: string | null
      project: string | null
      agent: string | null
      taskType: string | null
      priority: number
      tags: readonly string[]
    }
  /** Variables of the routine, each with the pointer to its value. */
  | { kind: 'routine'; routine: string; variables: Readonly<Record<string, string>> }

/** A delivery counts only if the payload has one of these values there. Numbers and truth values are compared as text. */
export interface HookCondition {
  at: string
  is: readonly string[]
}

export const HOOK_FIELDS = {
  hookId: uuid(),
  /** Unique among those that are not removed. It never changes: it is the actor of what the hook does. */
  name: text(),
  scheme: text<HookScheme>(),
  /** The key of signatures; of tokens only the SHA-256. Empty when the hook is removed. */
  secret: text(),
  /** The secret before the last rotation, for as long as it is valid. */
  previousSecret: orNull(text()),
  previousEndsAt: orNull(instant()),
  does: json<HookDoes>(),
  /** Only deliveries of these events; none: all. */
  events: texts(),
  conditions: json<readonly HookCondition[]>(),
  /** How many deliveries it takes in a minute. */
  perMinute: int(),
  isEnabled: boolean('enabled'),
  createdBy: text(),
  createdAt: instant(),
  updatedAt: instant(),
  version: int(),
  /** Its deliveries are kept a while longer. */
  removedAt: orNull(instant()),
}

export interface HookRecord extends RecordOf<typeof HOOK_FIELDS> {}

/** Who acts when a delivery does something. */
export const actorOf = ({ name }: Pick<HookRecord, 'name'>): string => `hook:${name}`
