import type { Budget } from '../../../pure/budget.ts'
import { costOfUsage, type PriceTable } from '../prices/cost.ts'
import { dollarsOf, picosOf } from './dollars.ts'
import type { TokenUsage } from './usage.ts'

/** The budget of one task, over all its runs. */

/** What the runs of a task have used; null: nothing is known. */
export interface Spent {
  inputTokens: number | null
  cachedInputTokens: number | null
  outputTokens: number | null
  /** What is paid by use. */
  costUsd: string | null
}

export interface SpentOnTask extends Spent {
  /** What is not paid by use, as with a subscription. */
  notionalUsd: string | null
}

/** Another budget for a task. */
export interface BudgetChange {
  budget: Budget | null
  /** What the plan of the task says with it: read, like what was spent, at this version of the task. */
  plan: unknown
  spent: Spent
  version: number
}

/**
 * Why the budget is used up by what was spent before and what this run has used; null while it is not. What a run costs on the
 * way follows from prices: without a price, its dollars count when it is over.
 */
export function whyOverBudget(
  { maxTokens, maxUsd }: Budget,
  spent: Spent,
  usage: TokenUsage | null,
  model: string | null,
  prices?: PriceTable,
): string | null {
  const tokens = tokensIn(spent) + (usage ? tokensIn(usage) : 0)
  if (maxTokens !== undefined && tokens >= maxTokens)
    return `The task has used ${tokens} of its ${maxTokens} tokens.`
  if (maxUsd === undefined) return null
  const picos = picosOf(spent.costUsd ?? '0') + picosOf((usage && costOfUsage(model, usage, prices)) ?? '0')
  return picos >= picosOf(maxUsd) ? `The task has cost $${dollarsOf(picos)} of its $${maxUsd}.` : null
}

/** As they are counted for missions, too. */
export const tokensIn = ({ inputTokens, cachedInputTokens, outputTokens }: Spent | TokenUsage) =>
  (inputTokens ?? 0) + (cachedInputTokens ?? 0) + (outputTokens ?? 0)
