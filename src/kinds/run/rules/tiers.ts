import { z } from 'zod'
import { estimatedTokensOf } from '../../mission/plan/estimate.ts'

/** Which of three models works at a task that names none. Mosaic's rule; off until the models are named. */

export type Tier = 'small' | 'medium' | 'large'
const Model = z.string().min(1).max(200)
/** Which model each tier is; what is not named is that of the agent. */
export const ModelTiersShape = z.strictObject({
  small: Model.optional(),
  medium: Model.optional(),
  large: Model.optional(),
})

interface Sized {
  priority: number
  taskType: string
  complexity?: number | null | undefined
  estimatedTokens?: number | null | undefined
}

const CRITICAL_PRIORITY = 9
const MOST_COMPLEXITY = 8
const SMALL_TOKENS = 10_000
const SIMPLE = 'boilerplate'

/** Critical and complex work gets the large model; what is simple or small gets the small one. */
export function tierOf({ priority, taskType, complexity = null, estimatedTokens = null }: Sized): Tier {
  if (priority >= CRITICAL_PRIORITY || (complexity ?? 0) > MOST_COMPLEXITY) return 'large'
  const isSaid = complexity !== null || estimatedTokens !== null
  const isSmall = isSaid && estimatedTokensOf({ complexity, estimatedTokens }) < SMALL_TOKENS
  return taskType === SIMPLE || isSmall ? 'small' : 'medium'
}

type Named = { readonly [T in Tier]?: string | null | undefined }

/** Null: no model is named for it. */
export const modelOfTier = (task: Sized, tiers: Named | null): string | null => tiers?.[tierOf(task)] ?? null
