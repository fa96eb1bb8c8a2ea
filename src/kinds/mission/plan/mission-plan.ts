import type { z } from 'zod'
import type { Budget } from '../../../pure/budget.ts'
import type { TriggerRule } from '../../../pure/states.ts'
import type { DependencyKind } from '../../task/rules/upstream-counts.ts'
import type { Contractor, Timeouts, Verification } from './mission-fields.ts'

/** A mission's plan: a flat list of tasks. What is not given is null; then the mission's config or the workspace decides. */
export interface MissionPlan {
  title: string | null
  /** The project its tasks stand in. */
  project: string | null
  /** How the planner went about it, for people. */
  strategy: string | null
  /** In the order given. */
  tasks: MissionTask[]
}

/** How the result of a task is judged. */
export type VerificationRule = z.output<typeof Verification>

export interface MissionTask {
  /** Unique in the plan. */
  tempId: string
  title: string
  description: string | null
  taskType: string
  priority: number | null
  dependsOn: MissionEdge[]
  triggerRule: TriggerRule
  tags: string[]
  capabilities: string[]
  agent: string | null
  /** It goes first; others after a while. */
  preferredAgent: string | null
  contractor: z.output<typeof Contractor> | null
  model: string | null
  complexity: number | null
  estimatedTokens: number | null
  successCriteria: string | null
  outputSchema: Record<string, unknown> | null
  toolsRequested: string[]
  verification: VerificationRule | null
  timeouts: z.output<typeof Timeouts> | null
  estimatedDurationMinutes: number | null
  maxRetries: number | null
  maxContinuations: number | null
  systemPrompt: string | null
  budget: Budget | null
  /** Its failure does not fail the mission. */
  optional: boolean
  /** Each attempt starts over. Null otherwise, as in plans from before there was a choice. */
  fresh: true | null
  /** In a newer plan: it is cancelled, although it was begun. */
  cancel: boolean
  input: unknown
}

export interface MissionEdge {
  /** The tempId of a task of the plan, or `task:` and the id of one outside. */
  on: string
  /** `data` hands on the result, `order` hands on nothing. */
  kind: DependencyKind
}

const OUTSIDE = 'task:'

/** The id of the task outside the plan; null for one of the plan. */
export const outsideId = ({ on }: Pick<MissionEdge, 'on'>): string | null =>
  on.startsWith(OUTSIDE) ? on.slice(OUTSIDE.length) : null
