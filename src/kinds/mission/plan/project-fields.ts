import { z } from 'zod'
import { Name, ShortText, Slug } from '../../../pure/shapes.ts'
import { TaskCreate } from '../../task/shapes/tasks.ts'
import { STRUCTURE } from './fields.ts'
import { LARGEST_PLAN_TASKS, MERGES } from './plan.ts'

/** As many as TaskCreate allows. */
const LARGEST_DEPENDENCIES = 10_000

const { title, description, taskType, priority, tags, triggerRule, requiredCapabilities } = TaskCreate.shape

/** The fields of a project's plan, under the names of Coditect 3.7. Values follow the rules of new tasks. */
export const PLAN_FIELDS = { project: Slug, name: Name.optional(), tracks: STRUCTURE }

export const TRACK_FIELDS = {
  agents: z.int().min(1).max(LARGEST_PLAN_TASKS).optional(),
  sequential: z.boolean().default(false),
  purpose: ShortText.optional(),
  tasks: STRUCTURE,
}

export const SUBTASK_FIELDS = {
  id: z.string().optional(),
  title: title.optional(),
  description,
  type: taskType,
  priority,
  depends_on: z.array(z.string()).max(LARGEST_DEPENDENCIES).default([]),
  trigger_rule: triggerRule,
  tags,
  capabilities: requiredCapabilities,
  agent: TaskCreate.shape.agent,
  max_retries: TaskCreate.shape.maxRetries,
  max_continuations: TaskCreate.shape.maxContinuations,
  input: z.unknown().optional(),
}

export const TASK_FIELDS = {
  ...SUBTASK_FIELDS,
  id: z.string(),
  merge: z.enum(MERGES).optional(),
  subtasks: STRUCTURE,
}
