import { picosOf } from '../../../pure/money.ts'
import type { BudgetRecord } from '../../budget/record.ts'
import { unconsumed } from '../../budget/rules/room.ts'

/** When a budget is used up, if it is used on as in the last 24 hours. */

/** What 24 hours used. */
export interface Burn {
  usd: string
  tokens: number
}

export interface Projected {
  remainingUsd: string | null
  remainingTokens: number | null
  /** Null: never, at this pace. */
  days: number | null
  exhaustedAt: number | null
  recommendation: 'CONTINUE' | 'THROTTLE'
}

const DAY_MS = 86_400_000
/** Who has no period should have this many days left. */
const FEWEST_DAYS = 7
/** Beyond it a date says nothing. */
const MOST_DAYS = 36_500

type Limited = Pick<BudgetRecord, 'maxUsd' | 'maxTokens' | 'consumedUsd' | 'consumedTokens' | 'periodEnd'>

/** How many days the amount lasts; null: for ever. */
function daysOf(left: bigint | null, daily: bigint): number | null {
  if (left === null) return null
  if (left <= 0n) return 0
  if (daily <= 0n) return null
  const days = Number((left * 1000n) / daily) / 1000
  return days > MOST_DAYS ? null : days
}

export function projected(budget: Limited, burn: Burn, now: number): Projected {
  const { usd, tokens } = unconsumed(budget)
  const each = [
    daysOf(usd === null ? null : picosOf(usd), picosOf(burn.usd)),
    daysOf(tokens === null ? null : BigInt(tokens), BigInt(burn.tokens)),
  ].filter((days) => days !== null)
  const days = each.length === 0 ? null : Math.min(...each)
  const exhaustedAt = days === null ? null : now + Math.round(days * DAY_MS)
  const { periodEnd } = budget
  const isShort = days !== null && (periodEnd === null ? days < FEWEST_DAYS : exhaustedAt! < periodEnd)
  return {
    ...{ remainingUsd: usd, remainingTokens: tokens, days, exhaustedAt },
    recommendation: isShort ? 'THROTTLE' : 'CONTINUE',
  }
}
