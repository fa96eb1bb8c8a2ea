import { lessDollars, picosOf, sumOfDollars } from '../../../pure/money.ts'
import { costOfModel, type PriceTable } from '../../run/prices/cost.ts'

/** What was saved by working with several models: against the dearest of them for all. */

export interface UsedModel {
  model: string | null
  inputTokens: number
  cachedInputTokens: number
  outputTokens: number
  costUsd: string | null
  notionalUsd: string | null
}

const TOKENS = ['inputTokens', 'cachedInputTokens', 'outputTokens'] as const

/**
 * Of each model, in their order; null: its cost or that of the dearest is not known. Cached input counts at its own price, and what was
 * written to a cache as plain input.
 */
export function savedOf(used: readonly UsedModel[], table: PriceTable): (string | null)[] {
  const all = Object.fromEntries(TOKENS.map((name) => [name, used.reduce((sum, one) => sum + one[name], 0)]))
  const costOf = (model: string | null, tokens: Record<string, number>) =>
    costOfModel({ ...(tokens as Record<(typeof TOKENS)[number], number>), model }, table)
  const priced = used.flatMap(({ model }) => {
    const cost = costOf(model, all)
    return cost === null ? [] : [{ model, picos: picosOf(cost) }]
  })
  const [first, ...others] = priced
  if (!first) return used.map(() => null)
  const dearest = others.reduce((most, one) => (one.picos > most.picos ? one : most), first)
  return used.map((one) => {
    if (one.costUsd === null || costOf(one.model, all) === null) return null
    const tokens = Object.fromEntries(TOKENS.map((name) => [name, one[name]]))
    return lessDollars(costOf(dearest.model, tokens) ?? '0', sumOfDollars(one.costUsd, one.notionalUsd))
  })
}
