import { z } from 'zod'
import { Generation, Instant, Name, Page, Slug, Uuid } from '../../pure/shapes.ts'
import { Tokens } from '../run/shapes/tokens.ts'
import { PURPOSES } from '../task/record.ts'
import { COST_BASES } from './record.ts'

/** Sums of many reports stay exact numbers. */
const Count = z.int().min(0).max(1e12)

/** What one model has used so far, as the line protocol has it. */
const UsageOfModel = z.strictObject({
  model: Name.optional(),
  inputTokens: Count.describe('Uncached input, with what was written to the cache'),
  cachedInputTokens: Count.optional(),
  cacheWriteInputTokens: Count.optional().describe('The part of the input that was written to the cache'),
  cacheWrite1hInputTokens: Count.optional().describe('The part of that which the cache keeps for an hour'),
  outputTokens: Count.describe('With reasoning'),
  reasoningTokens: Count.optional(),
  costUsd: z
    .string()
    .regex(/^\d{1,6}(\.\d{1,12})?$/)
    .optional()
    .describe('What it cost, as decimal dollars; without it, list prices count'),
})

/** Totals of a claim so far, not differences: a report that comes twice adds nothing. */
export const ReportedUsage = z.union([UsageOfModel, z.array(UsageOfModel).min(1).max(50)])

export const UsageBody = z.strictObject({
  session: Name,
  generation: Generation,
  number: z
    .int()
    .min(1)
    .max(2_147_483_647)
    .optional()
    .describe('Of this report: one that is not above the last adds nothing, and a higher one may correct it'),
  usage: ReportedUsage,
})

const Used = {
  tokens: Tokens,
  tokensUsed: z.int().describe('Of all kinds together'),
}
const Seconds = z.number().describe('How long runs have worked, exact to a millisecond')
const Costs = {
  costUsd: z.string().nullable().describe('What is paid by use; null: nothing of it is known'),
  notionalUsd: z
    .string()
    .nullable()
    .describe('What is not paid by use, as with a subscription, at list prices'),
}

export const UsageAnswer = z.object({
  taskId: Uuid,
  generation: z.int(),
  isBooked: z.boolean().describe('False: it added nothing'),
  ...Used,
  ...Costs,
  budget: z
    .object({
      scope: z.string(),
      scopeId: z.string().nullable(),
      percentUsed: z.number(),
      remainingUsd: z.string().nullable(),
      remainingTokens: z.int().nullable(),
      warnedAt: z.string().nullable(),
      isSpent: z.boolean(),
    })
    .nullable()
    .describe('The budget with the least left; null: none covers the task'),
})

const GROUPS = ['mission', 'project', 'agent', 'model', 'taskType', 'operation', 'task', 'day'] as const
export type UsageGroupName = (typeof GROUPS)[number]

const UsageFilter = {
  task: Uuid.optional(),
  mission: Uuid.optional(),
  project: Slug.optional(),
  agent: Name.optional(),
  model: Name.optional(),
  operation: z.enum(PURPOSES).optional(),
  from: Instant.optional().describe('Default: 30 days before "to"'),
  to: Instant.optional().describe('Default: now'),
}

export const UsageQuery = z.strictObject({
  ...UsageFilter,
  groupBy: z.enum(GROUPS).default('day'),
  format: z.enum(['json', 'csv']).default('json'),
})

export const UsageGroup = z.object({
  key: z
    .string()
    .nullable()
    .describe('The id, slug, name or day (YYYY-MM-DD in the time zone of the workspace)'),
  name: z.string().nullable(),
  ...Used,
  seconds: Seconds,
  ...Costs,
  runs: z.int().describe('Runs and claims that used something, if only time'),
  runsOfUnknownCost: z.int(),
  estimatedTokens: z
    .int()
    .nullable()
    .describe('What tasks were estimated to use, where they were; by taskType only'),
  estimatedTasks: z.int().nullable().describe('How many tasks that was'),
  tokensOfEstimated: z.int().nullable().describe('What the same tasks have used'),
  savedUsd: z
    .string()
    .nullable()
    .describe(
      'What the dearest of all models that were used would have cost for its tokens, less what they have cost, as far as that is known',
    ),
})

export const UsageSums = z.object({
  groupBy: z.enum(GROUPS),
  from: z.string(),
  to: z.string(),
  timeZone: z.string(),
  savedUsd: z.string().nullable().describe('Of all of it together'),
  total: UsageGroup.omit({
    key: true,
    name: true,
    estimatedTokens: true,
    estimatedTasks: true,
    tokensOfEstimated: true,
    savedUsd: true,
  }),
  items: z
    .array(UsageGroup)
    .describe('Days in their order, without those on which nothing was used; other groups by their cost'),
  groupsLeftOut: z.int().describe('Of more than 1,000 groups the largest are shown; the total has all'),
})

export const UsageRowView = z.object({
  runId: Uuid.nullable(),
  taskId: Uuid.nullable(),
  generation: z.int().nullable(),
  number: z.int(),
  at: z.string(),
  agent: z.string(),
  session: z.string().nullable(),
  missionId: Uuid.nullable(),
  project: z.string().nullable(),
  model: z.string(),
  operation: z.enum(PURPOSES),
  basis: z.enum(COST_BASES),
  ...Used,
  cacheWrite5mTokens: z.int(),
  cacheWrite1hTokens: z.int(),
  reasoningTokens: z.int().nullable(),
  seconds: Seconds,
  costUsd: z.string().nullable(),
})

export const UsageRowsQuery = z.strictObject({
  ...Page,
  cursor: z.string().min(1).max(4_000).optional().describe('It contains the name of a model'),
  ...UsageFilter,
  format: z.enum(['json', 'csv']).default('json'),
})

export const ProjectionQuery = z.strictObject({
  budget: Uuid.optional().describe('Default: that of the workspace'),
})

export const Projection = z.object({
  budgetId: Uuid.nullable(),
  remainingUsd: z.string().nullable(),
  remainingTokens: z.int().nullable(),
  dailyBurnUsd: z.string().describe('Of the last 24 hours, as far as it is known'),
  dailyBurnTokens: z.int(),
  daysUntilExhaustion: z.number().nullable().describe('Null: not within a hundred years at this pace'),
  exhaustedAt: z.string().nullable(),
  periodEnd: z.string().nullable(),
  recommendation: z.enum(['CONTINUE', 'THROTTLE']),
  isEnforced: z.boolean().describe('Work is handed out at the pace at which the budget lasts'),
})
