import { picosOf } from '../../../pure/money.ts'
import type { BudgetRecord } from '../record.ts'

/**
 * A paced budget hands out work only as far as it lasts until the end of its period: what is consumed and reserved keeps below the share of
 * the period that is over. The first work of a period is handed out at once, and each next one when the period has caught up with it.
 */

type Paced = Pick<
  BudgetRecord,
  | 'isPaced'
  | 'periodStart'
  | 'periodEnd'
  | 'maxUsd'
  | 'maxTokens'
  | 'consumedUsd'
  | 'consumedTokens'
  | 'reservedUsd'
  | 'reservedTokens'
>

/** When the period has caught up with so much of the whole. */
function caughtUpAt(used: bigint, whole: bigint, start: number, end: number): number {
  if (used <= 0n) return start
  if (used >= whole) return end
  const length = BigInt(end - start)
  // Rounded up: not before.
  return start + Number((length * used + whole - 1n) / whole)
}

/** When it hands out work again; null: now, as far as pace is concerned. `budget` is as it is now (`turned`). */
export function pacedUntil(budget: Paced, now: number): number | null {
  const { isPaced, periodStart, periodEnd, maxUsd, maxTokens } = budget
  if (!isPaced || periodEnd === null) return null
  const times = [
    maxTokens === null
      ? periodStart
      : caughtUpAt(
          BigInt(budget.consumedTokens + budget.reservedTokens),
          BigInt(maxTokens),
          periodStart,
          periodEnd,
        ),
    maxUsd === null
      ? periodStart
      : caughtUpAt(
          picosOf(budget.consumedUsd) + picosOf(budget.reservedUsd),
          picosOf(maxUsd),
          periodStart,
          periodEnd,
        ),
  ]
  const until = Math.max(...times)
  return until > now ? until : null
}
