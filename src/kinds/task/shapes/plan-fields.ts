import { z } from 'zod'
import { Budget } from '../../../pure/budget.ts'
import { Name, ShortText, Slug, Text } from '../../../pure/shapes.ts'

/** What a task says about how it is to be done and judged, beside what the claim path needs. */

const LARGEST_ESTIMATE_TOKENS = 1_000_000_000

/** In a plan, and in a request that creates a single task. */
export const planFields = {
  model: Name.optional(),
  complexity: z.int().min(1).max(10).optional(),
  estimatedTokens: z.int().min(1).max(LARGEST_ESTIMATE_TOKENS).optional(),
  successCriteria: Text.optional().describe('What a verifier checks'),
  outputSchema: z.record(z.string(), z.unknown()).optional().describe('A JSON Schema of its result'),
  systemPrompt: Text.optional(),
}

export const ToolsRequested = z.array(Name).max(100)

/** Who judges the result of a single task. */
export const TaskVerification = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('human') }),
  z.strictObject({
    kind: z.literal('agent'),
    agent: Slug.optional().describe('Without one, any other than the maker of the result'),
    threshold: z.number().min(0).max(1).optional().describe('The least score that passes'),
  }),
  z.strictObject({
    kind: z.literal('command'),
    command: ShortText.min(1).describe('Only for keys that may configure agents'),
  }),
  z.strictObject({ kind: z.literal('auto') }),
])

export const TaskPlanView = z.object({
  tempId: z.string().nullable().describe('Null: it has none in a plan'),
  sequenceNumber: z.int().nullable(),
  model: z.string().nullable(),
  fallbackModels: z.array(z.string()).optional(),
  preferredAgent: z.string().optional().describe('It goes first; others after ten minutes'),
  complexity: z.number().nullable(),
  estimatedTokens: z.int().nullable(),
  successCriteria: z.string().nullable(),
  outputSchema: z.record(z.string(), z.unknown()).nullable(),
  toolsRequested: z.array(z.string()),
  systemPrompt: z.string().nullable(),
  budget: Budget.nullable(),
  verification: z.unknown(),
  childOf: z.string().optional().describe('The task whose holder added it'),
})

/** Where one task is read, under the names with which it is created. */
export const planFieldViews = TaskPlanView.omit({
  tempId: true,
  sequenceNumber: true,
  verification: true,
  childOf: true,
}).shape
