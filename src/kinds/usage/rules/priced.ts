import { lessDollars, sumOfDollars } from '../../../pure/money.ts'
import type { BilledCost, BilledModel } from '../../run/prices/billed.ts'
import { type CostBasis, type ModelTotals, RUN_TIME } from '../record.ts'

/** The name under which the usage of a model is booked that nobody has named. */
const UNNAMED = 'unknown'

/** Nobody else books under the name of the time. */
const nameOf = ({ model }: BilledModel) => (model === null || model === RUN_TIME ? UNNAMED : model)

const totalsOfModel = ({ used, costUsd, basis }: BilledModel): ModelTotals => {
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = null } = used
  const written = Math.min(used.cacheWriteInputTokens ?? 0, inputTokens)
  const cacheWrite1hTokens = Math.min(used.cacheWrite1hInputTokens ?? 0, written)
  return {
    ...{ inputTokens, cachedInputTokens, outputTokens, reasoningTokens },
    ...{ cacheWrite1hTokens, cacheWrite5mTokens: written - cacheWrite1hTokens },
    ...{ costUsd, basis },
  }
}

/** What was billed, as it is booked: by model, and together exactly the whole. */
export function ledgerOf({ costUsd, basis, models }: BilledCost): Record<string, ModelTotals> {
  const byName = new Map<string, ModelTotals>()
  for (const one of models) {
    const name = nameOf(one)
    const [is, before] = [totalsOfModel(one), byName.get(name)]
    byName.set(name, before ? together(before, is) : is)
  }
  const booked = Object.fromEntries(byName)
  if (costUsd === null) return booked
  if (models.length === 0) return { [UNNAMED]: { ...NO_TOKENS, costUsd, basis } }
  return withWhole(booked, costUsd, basis)
}

const NO_TOKENS: ModelTotals = {
  ...{ inputTokens: 0, cachedInputTokens: 0, cacheWrite5mTokens: 0, cacheWrite1hTokens: 0, outputTokens: 0 },
  ...{ reasoningTokens: null, costUsd: null, basis: 'unknown' },
}

const together = (a: ModelTotals, b: ModelTotals): ModelTotals => ({
  inputTokens: a.inputTokens + b.inputTokens,
  cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
  cacheWrite5mTokens: a.cacheWrite5mTokens + b.cacheWrite5mTokens,
  cacheWrite1hTokens: a.cacheWrite1hTokens + b.cacheWrite1hTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  reasoningTokens:
    a.reasoningTokens === null && b.reasoningTokens === null
      ? null
      : (a.reasoningTokens ?? 0) + (b.reasoningTokens ?? 0),
  costUsd: a.costUsd === null || b.costUsd === null ? null : sumOfDollars(a.costUsd, b.costUsd),
  basis: a.costUsd === null ? a.basis : b.basis,
})

/** What the program told of all its models, beyond what is known of each: with the one that used most. */
function withWhole(
  booked: Record<string, ModelTotals>,
  costUsd: string,
  basis: CostBasis,
): Record<string, ModelTotals> {
  const known = sumOfDollars(...Object.values(booked).map((one) => one.costUsd))
  const isComplete = Object.values(booked).every((one) => one.costUsd !== null)
  if (isComplete && known === sumOfDollars(costUsd)) return booked
  const [first] = Object.entries(booked).sort(
    ([, a], [, b]) => b.inputTokens + b.outputTokens - (a.inputTokens + a.outputTokens),
  )
  const [name, most] = first!
  const rest = sumOfDollars(most.costUsd, lessDollars(costUsd, known))
  const others = Object.entries(booked).map(([other, one]): [string, ModelTotals] => [
    other,
    other === name ? { ...most, costUsd: rest, basis } : { ...one, costUsd: one.costUsd ?? '0', basis },
  ])
  return Object.fromEntries(others)
}
