/** Retry and lease arithmetic. Times are milliseconds; instants are milliseconds since the epoch. */

export const FAILURE_CLASSES = [
  'infrastructure',
  'quality',
  'rate_limited',
  'timeout',
  'out_of_memory',
  'invalid',
  'budget',
  'human',
  'dependency',
  'cancelled',
] as const
export type FailureClass = (typeof FAILURE_CLASSES)[number]

const FIRST_BACKOFF_MS = 10_000
const LONGEST_BACKOFF_MS = 300_000

/** min(10 s · 2^(attempt−1), 5 min); attempts count from 1. */
export function backoffMs(attempt: number): number {
  // The exponent is bounded before the power is taken: 2^1100 is Infinity, and Infinity is no date.
  const doublings = Math.min(Math.max(attempt, 1) - 1, 10)
  return Math.min(FIRST_BACKOFF_MS * 2 ** doublings, LONGEST_BACKOFF_MS)
}

export const hasAttemptsLeft = (attempt: number, maxRetries: number) => attempt <= maxRetries

/** A lease ends at its expiry instant, not after it: at that moment somebody else may already claim. */
export const leaseIsOver = (leaseExpiresAt: number, now: number) => now >= leaseExpiresAt

/** When a client should renew: at 40 % of the lease, moved by up to ±10 % of it so that fleets do not beat in step. */
export const renewAfterMs = (leaseMs: number, random: number) =>
  Math.round(leaseMs * (0.4 + (random - 0.5) * 0.2))

/** One step of priority is worth this much waiting, so low priorities age past newer high ones and never starve. */
export const PRIORITY_STEP_MS = 600_000

/**
 * The place in the queue, lowest first. All waiting tasks age at the same pace, so their order never changes while
 * they wait, and a fixed number in an index can hold "priority with ageing".
 */
export const queueRank = (queuedAt: number, priority: number) => queuedAt - priority * PRIORITY_STEP_MS

export const CONTINUATION_DELAY_MS = 1_000
export const VERIFY_TIMEOUT_MS = 180_000
