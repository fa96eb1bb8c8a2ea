import { picosOf, textOfPicos } from '../../../pure/money.ts'
import type { BudgetRecord } from '../record.ts'
import { type Amount, type Blocked, whyBlocked } from './room.ts'

/** Whether a claim may begin under its budgets, and what it reserves in them. */

/** An amount with its dollars as a number too: a batch decides thousands of claims, and reading texts is most of what that costs. */
export interface Counted extends Amount {
  picos: bigint
}

export const counted = ({ tokens, usd }: Amount): Counted => ({ tokens, usd, picos: picosOf(usd) })

/** Null: no limit of that kind. It may be less than nothing. */
interface Left {
  readonly tokens: number | null
  readonly picos: bigint | null
}

/** A budget whose texts are read once for a whole batch: its claims count on. */
export interface CountedBudget {
  readonly budget: BudgetRecord
  readonly why: Blocked | null
  readonly unconsumed: Left
  readonly unreserved: Left
}

const less = ({ tokens, picos }: Left, taken: Pick<Counted, 'tokens' | 'picos'>): Left => ({
  tokens: tokens === null ? null : tokens - taken.tokens,
  picos: picos === null ? null : picos - taken.picos,
})

export function countedBudget(budget: BudgetRecord): CountedBudget {
  const { maxUsd, maxTokens, consumedTokens, consumedUsd, reservedTokens, reservedUsd } = budget
  // Of what has no limit, nothing is computed.
  const picos = (usd: string) => (maxUsd === null ? 0n : picosOf(usd))
  const whole = { tokens: maxTokens, picos: maxUsd === null ? null : picosOf(maxUsd) }
  const unconsumed = less(whole, { tokens: consumedTokens, picos: picos(consumedUsd) })
  const unreserved = less(unconsumed, { tokens: reservedTokens, picos: picos(reservedUsd) })
  return { budget, why: whyBlocked(budget), unconsumed, unreserved }
}

/** With so much more reserved in it. Only the pace of a paced one is told from its record. */
export function withReserved(
  { budget, why, unconsumed, unreserved }: CountedBudget,
  taken: Pick<Counted, 'tokens' | 'picos'>,
): CountedBudget {
  const after = budget.isPaced
    ? {
        ...budget,
        reservedTokens: budget.reservedTokens + taken.tokens,
        reservedUsd: textOfPicos(picosOf(budget.reservedUsd) + taken.picos),
      }
    : budget
  return { budget: after, why, unconsumed, unreserved: less(unreserved, taken) }
}

const fits = ({ tokens, picos }: Counted, left: Left) =>
  (left.tokens === null || tokens <= Math.max(0, left.tokens)) &&
  (left.picos === null || picos <= (left.picos > 0n ? left.picos : 0n))
const isEmpty = ({ tokens, picos }: Left) =>
  (tokens !== null && tokens <= 0) || (picos !== null && picos <= 0n)

/** As much of it as is left in all of them, none of which is empty. */
function cut(wanted: Counted, budgets: readonly CountedBudget[]): Counted {
  if (budgets.every(({ unreserved }) => fits(wanted, unreserved))) return wanted
  let { tokens, picos } = wanted
  for (const { unreserved } of budgets) {
    if (unreserved.tokens !== null && unreserved.tokens < tokens) tokens = unreserved.tokens
    if (unreserved.picos !== null && unreserved.picos < picos) picos = unreserved.picos
  }
  return { tokens, picos, usd: textOfPicos(picos) }
}

/** How much a task is expected to use. An estimate that somebody made is kept to; a guess is cut to what is left. */
export interface Expected extends Counted {
  isEstimate: boolean
}

export type Room =
  | { kind: 'reserve'; amount: Counted }
  /** Nothing may begin under this budget. */
  | { kind: 'blocked'; budget: BudgetRecord; why: Blocked }
  /** It waits until others release what they have reserved. */
  | { kind: 'reserved'; budget: BudgetRecord }
  /** It hands out work again at that time. */
  | { kind: 'paced'; budget: BudgetRecord; until: number }
  /** The estimate is more than is left: a person is asked. */
  | { kind: 'too_much'; budget: BudgetRecord }

export function roomIn(budgets: readonly CountedBudget[], wanted: Expected): Room {
  for (const { budget, why } of budgets) if (why) return { kind: 'blocked', budget, why }
  if (wanted.isEstimate) {
    const tooMuch = budgets.find(({ unconsumed }) => !fits(wanted, unconsumed))
    if (tooMuch) return { kind: 'too_much', budget: tooMuch.budget }
    const inTheWay = budgets.find(({ unreserved }) => !fits(wanted, unreserved))
    return inTheWay ? { kind: 'reserved', budget: inTheWay.budget } : { kind: 'reserve', amount: wanted }
  }
  const full = budgets.find(({ unreserved }) => isEmpty(unreserved))
  if (full) return { kind: 'reserved', budget: full.budget }
  return { kind: 'reserve', amount: cut(wanted, budgets) }
}
