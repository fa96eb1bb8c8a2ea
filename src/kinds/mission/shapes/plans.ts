import { z } from 'zod'

/** What work may use, before it is done. */
export const Estimate = z.object({
  estimatedTokens: z.int(),
  costUsd: z.string().nullable().describe('Null: a price is unknown'),
})

const TaskEstimate = Estimate.extend({ id: z.string(), model: z.string().nullable() })

/** What a plan may cost; see docs/plans.md. */
const PlanEstimateView = Estimate.extend({
  unknownModels: z.array(z.string()).describe('Models without a price'),
  withoutModel: z.int().describe('How many tasks name no model'),
  assumed: z.int().describe('How many tasks state neither complexity nor tokens'),
  perTask: z.array(TaskEstimate),
})

export const PlanCheckAnswer = z.object({
  valid: z.literal(true),
  kind: z.enum(['mission', 'project']),
  taskCount: z.int(),
  layers: z.array(z.array(z.string())).describe('Ids of tasks, those that wait for no others first'),
  digest: z.string().describe('The sha-256 of what the plan means, in hex'),
  estimate: PlanEstimateView,
})
