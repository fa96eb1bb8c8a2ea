import { type PriceTable, picosFor, priceOf } from '../../run/prices/cost.ts'
import { PRICES } from '../../run/prices/table.ts'
import { dollarsOf } from '../../run/rules/dollars.ts'

/** What a plan may cost, before anything has run. */
export interface PlanEstimate {
  estimatedTokens: number
  /** Exact; null when a task has no model or its model has no price. */
  costUsd: string | null
  /** Models without a price. */
  unknownModels: string[]
  /** How many tasks name no model, so that their agent decides. */
  withoutModel: number
  /** How many tasks have neither complexity nor estimatedTokens, so that a middle complexity is assumed. */
  assumed: number
  perTask: TaskEstimate[]
}

interface TaskEstimate {
  id: string
  estimatedTokens: number
  model: string | null
  costUsd: string | null
}

export interface Estimated {
  id: string
  complexity?: number | null
  estimatedTokens?: number | null
  model?: string | null
  /** Who would do it, as the plan says. */
  agent?: string | null
  contractor?: { template: string } | null
  capabilities?: readonly string[]
  taskType?: string
}

/**
 * Mosaic's formula: 1,000 tokens for each point of complexity, 20 % more for tests, 30 % as a buffer, 15 % for the phase.
 * As a whole number: 1.2 × 1.3 × 1.15 is no exact float, and rounding it up would add a token.
 */
const TOKENS_PER_POINT = 1794
const MIDDLE_COMPLEXITY = 5
/** One token in five is written by the model, the others are read; none are taken as cached. */
const OUTPUT_SHARE = 5

export const estimatedTokensOf = ({ complexity, estimatedTokens }: Omit<Estimated, 'id'>): number =>
  estimatedTokens ?? (complexity ?? MIDDLE_COMPLEXITY) * TOKENS_PER_POINT

/** `modelOf` is asked for tasks that name no model: it may know the model of their agent. */
export function estimateTasks(
  tasks: readonly Estimated[],
  { modelOf = () => null, prices = PRICES }: EstimateOptions = {},
): PlanEstimate {
  const unknown = new Set<string>()
  let tokens = 0
  let picos: bigint | null = 0n
  let withoutModel = 0
  const perTask = tasks.map((task): TaskEstimate => {
    const own = estimatedTokensOf(task)
    const model = task.model ?? modelOf(task)
    const price = model === null ? null : priceOf(model, prices)
    const output = Math.ceil(own / OUTPUT_SHARE)
    const cost = price && picosFor(price, { input: own - output, output })
    if (model === null) withoutModel += 1
    else if (!price) unknown.add(model)
    tokens += own
    picos = picos === null || cost === null ? null : picos + cost
    return { id: task.id, estimatedTokens: own, model, costUsd: cost === null ? null : dollarsOf(cost) }
  })
  const assumed = tasks.filter((task) => task.complexity == null && task.estimatedTokens == null).length
  return {
    estimatedTokens: tokens,
    costUsd: picos === null ? null : dollarsOf(picos),
    unknownModels: [...unknown],
    withoutModel,
    assumed,
    perTask,
  }
}

export interface EstimateOptions {
  modelOf?: (task: Estimated) => string | null
  prices?: PriceTable
}
