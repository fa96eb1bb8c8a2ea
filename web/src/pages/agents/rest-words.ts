import { clockText } from '../../parts/wording.ts'

/** Its account is rate limited: until when, and how many others are on it. */
export interface Rests {
  until: string
  others: number
}

const DAY_MS = 86_400_000

const dayText = (at: number) =>
  new Date(at).toLocaleDateString('en-GB', { weekday: 'short', day: 'numeric', month: 'short' })

const countOf = (others: number) => (others === 1 ? 'one other' : `${others} others`)

/** "Rests until 06:00 with 3 others on this account", or for a table "Rests until 06:00, 3 others". Null: the time is over. */
export function restText({ until, others }: Rests, now: number, length: 'long' | 'short' = 'long') {
  const at = Date.parse(until)
  if (at <= now) return null
  const date = at - now < DAY_MS ? '' : `${dayText(at)}, `
  const words = `Rests until ${date}${clockText(at, 'minute')}`
  if (others === 0) return words
  return length === 'short'
    ? `${words}, ${countOf(others)}`
    : `${words} with ${countOf(others)} on this account`
}
