import { dollarText } from '../../../pure/money.ts'
import type { BudgetRecord } from '../record.ts'
import type { Blocked } from './room.ts'

/** What people and agents read about a budget. */

type Scoped = Pick<BudgetRecord, 'scope' | 'scopeId'>

/** Agents and projects have names that people know; what else there is, is known from where it is said. */
export const ofWhat = ({ scope, scopeId }: Scoped): string =>
  scope === 'agent' || scope === 'project' ? `the ${scope} ${scopeId}` : `the ${scope}`

type Told = Pick<
  BudgetRecord,
  'scope' | 'scopeId' | 'maxUsd' | 'maxTokens' | 'consumedUsd' | 'consumedTokens' | 'unknownModel'
>

/** A budget under which nothing goes on. */
export interface BlockingBudget extends Told {
  budgetId: string
}

/** What is used of it, by the limit that is reached. */
function used({ maxUsd, maxTokens, consumedUsd, consumedTokens }: Told): string {
  if (maxTokens !== null && consumedTokens >= maxTokens) return `${consumedTokens} of ${maxTokens} tokens`
  return `${dollarText(consumedUsd)} of ${dollarText(maxUsd ?? '0')}`
}

export function whyStopped(budget: Told, why: Blocked): string {
  const what = ofWhat(budget)
  if (why === 'stopped') return `All spending in ${what} is stopped.`
  if (why === 'unknown_price')
    return `${budget.unknownModel} has no price, and the budget of ${what} is in dollars.`
  return `The budget of ${what} is spent: ${used(budget)}.`
}
