import type { Limits } from '../../workspace/limits.ts'

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

/** min(10 s · 2^(attempt−1), 5 min), or from another first wait; attempts count from 1. */
export function backoffMs(attempt: number, firstMs = FIRST_BACKOFF_MS): number {
  // The exponent is bounded before the power is taken: 2^1100 is Infinity, which is not a date.
  const doublings = Math.min(Math.max(attempt, 1) - 1, 10)
  return Math.min(firstMs * 2 ** doublings, LONGEST_BACKOFF_MS)
}

/**
 * The wait after a lost holder: the backoff ±25 %, so that a thousand tasks lost at once do not come back at once. The
 * spread is not random: it follows from the task and its generation.
 */
export function spreadBackoffMs(
  attempt: number,
  taskId: number,
  generation: number,
  firstMs?: number,
): number {
  const usualMs = backoffMs(attempt, firstMs)
  const shortestMs = usualMs * 0.75
  // Not cut off at the maximum, or half of all long waits would end together.
  const longestMs = Math.min(usualMs * 1.25, LONGEST_BACKOFF_MS)
  return Math.round(shortestMs + (longestMs - shortestMs) * shareOf(taskId, generation))
}

/** A number from 0 to 1, evenly spread even for inputs that are close together. */
function shareOf(taskId: number, generation: number): number {
  let mixed = Math.imul(taskId, 0x9e3779b1) ^ Math.imul(generation, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 0xffffffff
}

export const hasAttemptsLeft = (attempt: number, maxRetries: number) => attempt <= maxRetries

/** How many attempts may follow the first one; `attempt` is how many are spent. */
export const retriesLeft = (attempt: number, maxRetries: number) =>
  Math.min(Math.max(maxRetries + 1 - attempt, 0), maxRetries)

/** A lease ends at its expiry instant, not after it: at that moment another agent may already claim. */
export const leaseIsOver = (leaseExpiresAt: number, now: number) => now >= leaseExpiresAt

/** The share of a lease after which it should be renewed. */
export const RENEW_FROM = 0.4

/** When a client should renew, with ±10 % of the lease as jitter so that fleets do not renew in step. */
export const renewAfterMs = (leaseMs: number, random: number) =>
  Math.round(leaseMs * (RENEW_FROM + (random - 0.5) * 0.2))

/** One step of priority is worth this much waiting, so low priorities age past newer high ones and never starve. */
export const PRIORITY_STEP_MS = 600_000

/**
 * The rank in the queue, lowest first. All waiting tasks age at the same pace, so their order never changes while
 * they wait, and a fixed number in an index can hold "priority with ageing".
 */
export const queueRank = (queuedAt: number, priority: number) => queuedAt - priority * PRIORITY_STEP_MS

/** The estimate of a task that has none. */
const USUAL_ESTIMATE_MS = 1_800_000

/** Earlier than any work was queued. */
const BEFORE_ALL_WORK_MS = 100 * 365 * 86_400_000

/**
 * A verdict comes before work: what is done is finished before more is begun. Work does not starve, because each verdict
 * follows from a result of work. Among themselves verifications have the priorities of what they judge.
 */
const headStartMs = (purpose: string) => (purpose === 'verification' ? BEFORE_ALL_WORK_MS : 0)

/** With shortest first, the estimate is added to the rank: short work goes first, and long work ages past newer work. */
export const placeInQueue = (
  order: Limits['queueOrder'],
  queuedAt: number,
  priority: number,
  estimateMs: number | undefined,
  purpose = 'work',
) =>
  queueRank(queuedAt - headStartMs(purpose), priority) +
  (order === 'shortest_first' ? (estimateMs ?? USUAL_ESTIMATE_MS) : 0)

export const CONTINUATION_DELAY_MS = 1_000
/** Automatos 3.5: the limit of a task that sets none. */
export const DEFAULT_MAX_CONTINUATIONS = 10

/** The first of two times; null is never. */
export const sooner = (one: number | null, other: number | null) =>
  one === null ? other : other === null ? one : Math.min(one, other)
