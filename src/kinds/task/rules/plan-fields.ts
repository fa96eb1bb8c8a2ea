import type { Budget } from '../../../pure/budget.ts'
import type { VerificationRule } from '../../mission/plan/mission-plan.ts'

/** What a plan says about a task beside what the claim path needs. */
export interface TaskPlan {
  /** Its id in the plan; null: it was added without one. */
  tempId: string | null
  /** Its place in the plan, from 1; null: it is not in the plan. */
  sequenceNumber: number | null
  model: string | null
  /** The agent that goes first; others after a while. */
  preferredAgent?: string | undefined
  /** Its fallback models. */
  fallbackModels?: readonly string[] | undefined
  complexity: number | null
  estimatedTokens: number | null
  successCriteria: string | null
  outputSchema: Record<string, unknown> | null
  toolsRequested: readonly string[]
  systemPrompt: string | null
  budget: Budget | null
  verification: VerificationRule | null
  /** Outside id of the task whose holder added it. */
  childOf?: string | undefined
}

/** Of a task about which nothing was said. */
export const NOTHING_SAID: TaskPlan = {
  ...{ tempId: null, sequenceNumber: null, model: null, complexity: null, estimatedTokens: null },
  ...{ successCriteria: null, outputSchema: null, toolsRequested: [], systemPrompt: null },
  ...{ budget: null, verification: null },
}
