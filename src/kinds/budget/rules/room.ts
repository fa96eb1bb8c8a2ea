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

const fits = ({ tokens, usd }: Amount, left: Left) =>
  (left.tokens === null || tokens <= left.tokens) && (left.usd === null || picosOf(usd) <= picosOf(left.usd))
const isEmpty = (left: Left) => left.tokens === 0 || (left.usd !== null && picosOf(left.usd) === 0n)

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

/** How much a task is expected to use. An estimate that somebody made is kept to; a guess is cut to what is left. */
export interface Expected extends Amount {
  isEstimate: boolean
}

export type Room =
  | { kind: 'reserve'; amount: Amount }
  /** Nothing may begin under this budget. */
  | { kind: 'blocked'; budget: BudgetRecord; why: Blocked }
  /** It waits until others release what they have reserved. */
  | { kind: 'reserved'; budget: BudgetRecord }
  /** It hands out work again at that time. */
  | { kind: 'paced'; budget: BudgetRecord; until: number }
  /** The estimate is more than is left: a person is asked. */
  | { kind: 'too_much'; budget: BudgetRecord }

/** Whether a claim may begin under all of these budgets, and what it reserves. */
export function roomIn(budgets: readonly BudgetRecord[], { isEstimate, ...wanted }: Expected): Room {
  for (const budget of budgets) {
    const why = whyBlocked(budget)
    if (why) return { kind: 'blocked', budget, why }
  }
  if (isEstimate) {
    const tooMuch = budgets.find((budget) => !fits(wanted, unconsumed(budget)))
    if (tooMuch) return { kind: 'too_much', budget: tooMuch }
    const inTheWay = budgets.find((budget) => !fits(wanted, unreserved(budget)))
    return inTheWay ? { kind: 'reserved', budget: inTheWay } : { kind: 'reserve', amount: wanted }
  }
  const full = budgets.find((budget) => isEmpty(unreserved(budget)))
  if (full) return { kind: 'reserved', budget: full }
  return { kind: 'reserve', amount: cutTo(wanted, budgets.map(unreserved)) }
}
