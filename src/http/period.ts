import { Refused } from '../core/errors.ts'

/** A period of time, in milliseconds since 1970; null: that side is open. */
export interface Period {
  from: number | null
  to: number | null
}

export function periodIn({ from, to }: { from?: string | undefined; to?: string | undefined }): Period {
  const [began, ended] = [from, to].map((text) => (text === undefined ? null : Date.parse(text)))
  if (began != null && ended != null && began >= ended)
    throw Refused.field('VALIDATION_FAILED', 'to', 'must be later than "from"')
  return { from: began ?? null, to: ended ?? null }
}
