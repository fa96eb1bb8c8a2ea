import { z } from 'zod'
import { BudgetFields } from '../../../pure/budget.ts'
import { Name, ShortText, Slug, Tag, Text, Title } from '../../../pure/shapes.ts'
import { TRIGGER_RULES } from '../../../pure/states.ts'
import { storedDollars } from '../../run/rules/dollars.ts'
import { DEPENDENCY_KINDS } from '../../task/rules/upstream-counts.ts'
import { planFields, ToolsRequested } from '../../task/shapes/plan-fields.ts'
import { TaskCreate } from '../../task/shapes/tasks.ts'
import { type Shapes, STRUCTURE } from './fields.ts'
import { LARGEST_PLAN_TASKS } from './plan.ts'

/** The fields of a mission's plan. The reader and the JSON Schema for planners are made from them. */

export const LARGEST_EDGES = 10_000
const LARGEST_DOLLARS = 1_000_000_000

const NOT_DOLLARS = { error: 'must be dollars, such as "2.50" or 2.5, with at most nine decimals' }
const Dollars = z
  .union(
    [
      z.string().regex(/^\d{1,9}(\.\d{1,9})?$/, NOT_DOLLARS),
      z.number().min(0, NOT_DOLLARS).max(LARGEST_DOLLARS, NOT_DOLLARS),
    ],
    NOT_DOLLARS,
  )
  .transform((dollars) => storedDollars(String(dollars))!)

/** Plans are written by hand, too: dollars may be a number. */
const PlanBudget = BudgetFields.extend({ maxUsd: Dollars.optional() })

export const Contractor = z.strictObject({ template: Slug, name: Name.optional() })

export const Verification = z.strictObject({
  kind: z.enum(['command', 'agent', 'human', 'auto']),
  command: ShortText.min(1).optional(),
  agent: Slug.optional(),
  threshold: z
    .number({ error: 'must be a number from 0 to 1' })
    .min(0)
    .max(1)
    .optional()
    .describe('The least score that passes'),
})

export const Timeouts = TaskCreate.shape.timeouts.unwrap()

export const Edge = z.strictObject({
  on: z.string().min(1).max(200),
  kind: z.enum(DEPENDENCY_KINDS).default('data'),
})

const { title, description, taskType, input, tags, requiredCapabilities, agent } = TaskCreate.shape

export const MissionTaskShape = z.strictObject({
  tempId: Tag.describe('Any short name, unique in the plan'),
  title: title.optional(),
  description,
  taskType,
  dependsOn: z
    .array(z.union([z.string(), Edge]))
    .max(LARGEST_EDGES)
    .default([])
    .describe('Ids of tasks of the plan. data (the default) hands on their results, order does not'),
  triggerRule: z.enum(TRIGGER_RULES).default('all_success'),
  agent: agent.unwrap().optional().describe('The only agent that may do it'),
  preferredAgent: agent
    .unwrap()
    .optional()
    .describe('Instead of agent: it goes first, and any other that can do it after ten minutes'),
  capabilities: requiredCapabilities.describe('What its agent must be able to do'),
  contractor: Contractor.optional().describe('Instead of agent: one made from a template, for this mission'),
  ...planFields,
  verification: Verification.optional(),
  toolsRequested: ToolsRequested.default([]),
  budget: PlanBudget.optional(),
  optional: z.boolean().default(false).describe('Its failure does not fail the mission'),
  fresh: TaskCreate.shape.fresh,
  cancel: z
    .boolean()
    .default(false)
    .describe('In a newer plan of a mission that runs: cancel it, although it was begun'),
  maxRetries: TaskCreate.shape.maxRetries.unwrap().optional(),
  maxContinuations: TaskCreate.shape.maxContinuations.unwrap().optional(),
  timeouts: Timeouts.optional(),
  estimatedDurationMinutes: TaskCreate.shape.estimatedDurationMinutes,
  priority: TaskCreate.shape.priority.unwrap().optional(),
  tags,
  input,
})

export const MissionPlanShape = z.strictObject({
  title: Title.optional(),
  project: Slug.optional(),
  strategy: Text.optional().describe('How the tasks go together, in words'),
  tasks: z.array(MissionTaskShape).max(LARGEST_PLAN_TASKS),
})

/** Lists of structures are read one by one, so that each has its own problems. */
export const MISSION_FIELDS = { ...MissionPlanShape.shape, tasks: STRUCTURE } satisfies Shapes
export const MISSION_TASK_FIELDS = { ...MissionTaskShape.shape, dependsOn: STRUCTURE } satisfies Shapes
