import { Refused } from '../pure/errors.ts'
import type { Caller } from './kernel.ts'

/** The same for many things: each is decided separately, and a refusal of one is the answer for that one. */

/** Each is remembered under a key of its own. */
export const forOne = (caller: Caller, id: string): Caller =>
  caller.idempotency
    ? { ...caller, idempotency: { ...caller.idempotency, key: `${caller.idempotency.key} ${id}` } }
    : caller

export type OneOutcome<T> = { answer: T; refused: null } | { answer: null; refused: Refused }

export async function outcomeOf<T>(act: () => Promise<T>): Promise<OneOutcome<T>> {
  try {
    return { answer: await act(), refused: null }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { answer: null, refused: error }
  }
}
