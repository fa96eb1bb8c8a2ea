import { type Refusal, refuse } from './errors.ts'

/**
 * What a repeated request gets whose first answer had a secret in it: that answer is stored nowhere, so it cannot be given again. The
 * caller learns what was made, can remove it, and can make another one under another idempotency key.
 */
export const secretWasGiven = (what: string): Refusal =>
  refuse(
    'ALREADY_EXISTS',
    `The first request with this idempotency key made ${what}; its answer had a secret in it and is not kept.`,
  )
