import { lessDollars, picosOf, sumOfDollars } from '../../../pure/money.ts'
import { costOfModel, type PriceTable } from '../../run/prices/cost.ts'
import { RUN_TIME } from '../record.ts'

/** What was saved by working with several models: against the dearest of them for all. */

export interface UsedModel {
  model: string | null
  inputTokens: number
  cachedInputTokens: number
  outputTokens: number
  /** What was paid, and what is not paid by use; both null: unknown. */
  costUsd: string | null
  notionalUsd: string | null
}

const TOKENS = ['inputTokens', 'cachedInputTokens', 'outputTokens'] as const

const costAt = (model: string | null, used: UsedModel, table: PriceTable): string | null => {
  const { inputTokens, cachedInputTokens, outputTokens } = used
  return costOfModel({ model, inputTokens, cachedInputTokens, outputTokens }, table)
}

/** The model that would have cost most for all of it; null: none of them has a price. */
function dearestOf(all: readonly UsedModel[], table: PriceTable): string | null {
  const sums = TOKENS.map((name) => [name, all.reduce((sum, one) => sum + one[name], 0)])
  const whole = { ...Object.fromEntries(sums), costUsd: null, notionalUsd: null } as UsedModel
  let dearest: { model: string | null; picos: bigint } | null = null
  for (const { model } of all) {
    const cost = model === RUN_TIME ? null : costAt(model, whole, table)
    if (cost === null) continue
    const picos = picosOf(cost)
    if (!dearest || picos > dearest.picos) dearest = { model, picos }
  }
  return dearest?.model ?? null
}

/**
 * Against the dearest model of `all`, says of a part of it what it saved; null: of none of its models the cost and the price are known.
 * Cached input counts at its own price, and what was written to a cache as plain input. Time costs the same with any model.
 */
export function savings(all: readonly UsedModel[], table: PriceTable) {
  const dearest = dearestOf(all, table)
  const savedBy = (one: UsedModel): string[] => {
    const { model, costUsd, notionalUsd } = one
    if (model === RUN_TIME || (costUsd === null && notionalUsd === null)) return []
    if (costAt(model, one, table) === null) return []
    return [lessDollars(costAt(dearest, one, table) ?? '0', sumOfDollars(costUsd, notionalUsd))]
  }
  return (part: readonly UsedModel[]): string | null => {
    const saved = part.flatMap(savedBy)
    return dearest === null || saved.length === 0 ? null : sumOfDollars(...saved)
  }
}
