/** When what did not arrive is sent again. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** The schedule that Standard Webhooks recommends: how long after the first attempt each further one is made. */
const AFTER_FIRST = [
  ...[5 * SECOND, 5 * MINUTE, 30 * MINUTE],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR),
]
export const MOST_ATTEMPTS = AFTER_FIRST.length + 1

/** What is added at random, as a part of the wait: those that failed together do not come back together. */
const JITTER = 0.1

/** How long to wait after this many attempts; null: it is given up. `random` is from 0 to 1. */
export function retryAfterMs(attempts: number, random: number): number | null {
  const at = AFTER_FIRST[attempts - 1]
  if (at === undefined) return null
  return Math.round((at - (AFTER_FIRST[attempts - 2] ?? 0)) * (1 + JITTER * random))
}

const FIRST_HOLD = 5 * SECOND
const LONGEST_HOLD = 5 * MINUTE

/** How long nothing is sent to a receiver from which nothing has come but failures, the n-th time in a row. */
export const holdMs = (holds: number, random: number) =>
  Math.round(Math.min(FIRST_HOLD * 2 ** Math.min(holds - 1, 10), LONGEST_HOLD) * (1 + JITTER * random))

const LONGEST_RETRY_AFTER = 24 * HOUR

/** Retry-After in milliseconds: seconds, or a date. Null: there is none that can be read. */
export function retryAfterIn(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * SECOND : Date.parse(header) - now
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER)
}

/** Nothing has arrived for so long: the receiver is given up. */
export const GIVEN_UP_AFTER_MS = 5 * 24 * HOUR
