import { percentOf, picosOf, textOfPicos } from '../../../pure/money.ts'
import type { BudgetRecord } from '../record.ts'

/** What is left of a budget, and what may be reserved in it. */

/** Tokens and dollars; null: of no interest. */
export interface Amount {
  tokens: number
  usd: string
}

export const NOTHING: Amount = { tokens: 0, usd: '0' }

type Limited = Pick<BudgetRecord, 'maxUsd' | 'maxTokens' | 'consumedUsd' | 'consumedTokens'>
type Reserving = Limited & Pick<BudgetRecord, 'reservedUsd' | 'reservedTokens'>

const atLeastNothing = (picos: bigint) => (picos > 0n ? picos : 0n)

/** Only what was consumed stops: all of it is consumed. */
export const isSpent = ({ maxUsd, maxTokens, consumedUsd, consumedTokens }: Limited): boolean =>
  (maxTokens !== null && consumedTokens >= maxTokens) ||
  (maxUsd !== null && picosOf(consumedUsd) >= picosOf(maxUsd))

/** Why nothing more may begin, or go on, under it. */
export type Blocked = 'spent' | 'stopped' | 'unknown_price'

export const whyBlocked = (
  budget: Limited & Pick<BudgetRecord, 'stoppedAt' | 'unknownModel'>,
): Blocked | null =>
  budget.stoppedAt !== null
    ? 'stopped'
    : isSpent(budget)
      ? 'spent'
      : budget.unknownModel !== null && budget.maxUsd !== null
        ? 'unknown_price'
        : null

export const budgetState = (budget: Parameters<typeof whyBlocked>[0] & Pick<BudgetRecord, 'warnedAt'>) =>
  whyBlocked(budget) ? 'blocked' : budget.warnedAt === null ? 'open' : 'warned'

/** How much is used, by whichever of tokens and dollars is more; 0 without a limit. */
export function percentUsed({ maxUsd, maxTokens, consumedUsd, consumedTokens }: Limited): number {
  const tokens = maxTokens === null ? 0 : percentOf(BigInt(consumedTokens), BigInt(maxTokens))
  const usd = maxUsd === null ? 0 : percentOf(picosOf(consumedUsd), picosOf(maxUsd))
  return Math.max(tokens, usd)
}

/** What is not consumed; null: no limit of that kind. */
export const unconsumed = ({ maxUsd, maxTokens, consumedUsd, consumedTokens }: Limited) => ({
  tokens: maxTokens === null ? null : Math.max(0, maxTokens - consumedTokens),
  usd: maxUsd === null ? null : textOfPicos(atLeastNothing(picosOf(maxUsd) - picosOf(consumedUsd))),
})

/** What is neither consumed nor reserved. */
export const unreserved = ({ maxUsd, maxTokens, ...used }: Reserving) => ({
  tokens: maxTokens === null ? null : Math.max(0, maxTokens - used.consumedTokens - used.reservedTokens),
  usd:
    maxUsd === null
      ? null
      : textOfPicos(atLeastNothing(picosOf(maxUsd) - picosOf(used.consumedUsd) - picosOf(used.reservedUsd))),
})

type Left = ReturnType<typeof unconsumed>

const smaller = (a: string, b: string) => (picosOf(b) < picosOf(a) ? b : a)
/** As much of it as is left in all of them. */
export const cutTo = (wanted: Amount, lefts: readonly Left[]): Amount =>
  lefts.reduce<Amount>(
    ({ tokens, usd }, left) => ({
      tokens: left.tokens === null ? tokens : Math.min(tokens, left.tokens),
      usd: left.usd === null ? usd : smaller(usd, left.usd),
    }),
    wanted,
  )
