import { instant, int, orNull, type RecordOf, text, uuid } from '../../pure/fields.ts'

/** What became of a delivery. */
export const VERDICTS = ['done', 'ignored', 'failed', 'refused'] as const
export type Verdict = (typeof VERDICTS)[number]

export const DONE_KINDS = ['wakeup', 'task', 'mission'] as const
export type DoneKind = (typeof DONE_KINDS)[number]

export const HOOK_DELIVERY_FIELDS = {
  /** The hook and the id that the sender gave: a second delivery with it is the same one. See `deliveryKey`. */
  key: text(),
  deliveryId: uuid(),
  hookId: uuid(),
  /** The id that the sender gave; null: none, or not to be believed. */
  sentAs: orNull(text()),
  /** What happened there, as the sender calls it. */
  event: orNull(text()),
  address: orNull(text()),
  bytes: int(),
  verdict: text<Verdict>(),
  /** Why it did nothing. */
  reason: orNull(text()),
  /** What it made, if it made anything. */
  made: orNull(text<DoneKind>()),
  madeId: orNull(uuid()),
  /** How often it came again. */
  repeats: int(),
  receivedAt: instant(),
}

export interface HookDeliveryRecord extends RecordOf<typeof HOOK_DELIVERY_FIELDS> {}

/** One that did nothing may come again: it is kept under an id of its own. */
export const deliveryKey = (hookId: string, { sentAs, id }: { sentAs: string | null; id: string }): string =>
  sentAs === null ? `${hookId} ${id}` : `${hookId} id:${sentAs}`
