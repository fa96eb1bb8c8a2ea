import type { Refusal } from '../../src/pure/errors.ts'

/** A reply to any request, as tests read it: they know which fields are there. */
export type Reply =
  | { readonly ok: true; readonly reason: string; readonly [field: string]: unknown }
  | Refusal
