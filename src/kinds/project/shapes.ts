import { z } from 'zod'
import { Name, ShortText, Slug, Track } from '../../pure/shapes.ts'
import { TRIGGER_RULES } from '../../pure/states.ts'

export const ProjectBody = z.strictObject({ slug: Slug, name: Name.optional() })
export const EfficiencyBody = z.strictObject({
  tokensPerLine: z
    .int()
    .min(1)
    .max(1_000_000)
    .nullable()
    .describe('How many tokens a changed line may take before work counts as inefficient; null: 150'),
})
export const ProjectParams = z.object({ slug: Slug })
export const TrackParams = z.object({ slug: Slug, track: Track })

export const TrackBody = z.strictObject({
  maxAgents: z
    .int()
    .min(1)
    .max(100_000)
    .nullable()
    .describe('How many agents may work on the track at once; null: any number'),
  purpose: ShortText.nullable().optional().describe('What the track is for'),
})

const TrackView = z.object({
  track: z.string(),
  maxAgents: z.int().nullable(),
  sequential: z.boolean(),
  purpose: z.string().nullable(),
  agents: z.array(z.string()),
  completed: z.int(),
  inProgress: z.int(),
  pending: z.int(),
  failed: z.int(),
  holding: z
    .array(z.object({ taskId: z.string(), key: z.string().nullable(), title: z.string(), agent: z.string() }))
    .describe('What its agents hold now; the first 10'),
})

export const ProjectView = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  createdAt: z.string(),
  tokensPerLine: z.int().nullable(),
})
export const ListedProject = ProjectView.extend({
  trackCount: z.int().optional().describe('With include=progress, as the following fields'),
  completed: z.int().optional().describe('Tasks, of all tracks and of none; parts of tasks are not counted'),
  inProgress: z.int().optional(),
  pending: z.int().optional(),
  failed: z.int().optional(),
})
export const ProjectWithTracks = ProjectView.extend({ tracks: z.array(TrackView) })

export const PlanAnswer = z.object({
  project: z.string(),
  created: z.int(),
  updated: z.int(),
  unchanged: z.int(),
  notInPlan: z.array(z.string()).describe('Keys of existing tasks that the plan does not name; they stay'),
  notTaken: z
    .array(z.object({ key: z.string(), fields: z.array(z.string()) }))
    .describe('Differences that are not applied: a task keeps its type, input and capabilities'),
})

const PlanSubtask = z.object({
  id: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  type: z.string().optional(),
  priority: z.int().optional(),
  depends_on: z.array(z.string()).optional(),
  trigger_rule: z.enum(TRIGGER_RULES).optional(),
  tags: z.array(z.string()).optional(),
  capabilities: z.array(z.string()).optional(),
  agent: z.string().optional(),
  max_retries: z.int().optional(),
  max_continuations: z.int().optional(),
  input: z.unknown().optional(),
})
const PlanTask = PlanSubtask.extend({
  merge: z.literal('task').optional(),
  subtasks: z.array(PlanSubtask).optional(),
})

/** A plan as it is written. Default values are left out. */
export const PlanView = z.object({
  project: z.string(),
  name: z.string().optional(),
  tracks: z.record(
    z.string(),
    z.union([
      z.array(PlanTask),
      z.object({
        agents: z.int().optional(),
        sequential: z.literal(true).optional(),
        purpose: z.string().optional(),
        tasks: z.array(PlanTask),
      }),
    ]),
  ),
})
