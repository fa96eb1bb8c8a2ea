import { z } from 'zod'
import { Budget, Dollars } from '../../../pure/budget.ts'
import { Instant, IsSimulated, Name, ShortText, Slug, Tag, Text, Title, Uuid } from '../../../pure/shapes.ts'
import { taskStates } from '../../../pure/states.ts'
import { VariableValues } from '../../routine/rules/variables.ts'
import { PURPOSES } from '../../task/record.ts'
import { Timeouts } from '../../task/shapes/tasks.ts'
import { GATE_REASONS, missionStates } from '../states.ts'
import { Estimate } from './plans.ts'

/** Missions: a goal that is planned, approved, worked on and brought to an end. */

export const AUTONOMIES = ['approve', 'autonomous', 'full_auto'] as const

/** The version of the stored form. A stored configuration of another version is refused, not guessed at. */
const CONFIG_VERSION = 1

export const MissionSettings = z.strictObject({
  autonomy: z
    .enum(AUTONOMIES)
    .default('approve')
    .describe('A person approves the plan; or only one that costs more than approveBelowUsd; or nobody'),
  approveBelowUsd: Dollars.optional(),
  budget: Budget.optional().describe('When it is spent, the gate closes and a person is asked'),
  models: z
    .strictObject({
      default: Name.optional(),
      byTaskType: z.record(Tag, Name).optional(),
      fallback: z
        .array(Name)
        .max(20)
        .optional()
        .describe(
          'Stand in for the model of a task, in turn, after a rate limit or a result that was not good enough',
        ),
    })
    .optional()
    .describe('For tasks that name no model'),
  anotherModelOnRetry: z
    .boolean()
    .optional()
    .describe('After a result that was not good enough, another agent goes first, if one can do it'),
  retry: z
    .strictObject({
      maxAttempts: z.int().min(1).max(101).optional(),
      baseSeconds: z
        .int()
        .min(1)
        .max(300)
        .optional()
        .describe(
          'The wait before the second attempt of a task; it doubles with each further one. Default: 10',
        ),
    })
    .optional(),
  timeouts: Timeouts.optional(),
  onFailure: z
    .enum(['continue', 'stop'])
    .default('continue')
    .describe('Whether a failed task that is not optional ends the mission at once'),
  maxParallel: z.int().min(1).max(100_000).optional(),
  reportAgent: Slug.optional().describe(
    'The agent that reports on the mission when it has ended. Baton writes a report in any case',
  ),
  acceptance: z
    .enum(['auto', 'human'])
    .optional()
    .describe('Whether a person accepts the outcome before the mission is completed. Default: auto'),
  commands: z
    .array(ShortText.min(1))
    .max(100)
    .optional()
    .describe('What plans by agents may run to verify results. Only for keys that may configure agents'),
})
const Planner = z.strictObject({ agent: Slug.optional() })
/** As it is stored. */
export const MissionConfig = MissionSettings.extend({
  planner: Planner.optional(),
  routine: z
    .strictObject({ id: Uuid, scheduledFor: z.string().nullable(), variables: VariableValues })
    .optional()
    .describe('The routine that started it, the scheduled time, and the values of its variables'),
  outcome: z
    .strictObject({
      state: z.enum(['ready', 'declined']),
      missing: z.string().nullable().describe('What a person missed in it'),
      isPlanning: z.boolean().describe('Its planner makes the next plan'),
    })
    .optional()
    .describe('Its work is done, and a person decides about the outcome'),
  version: z.literal(CONFIG_VERSION).default(CONFIG_VERSION),
})
export type MissionConfig = z.output<typeof MissionConfig>

export const MissionCreate = z.strictObject({
  goal: Text.min(1).describe('Stored as it is written; it never changes'),
  title: Title.optional().describe('Default: the first line of the goal'),
  description: Text.optional(),
  tags: z.array(Tag).max(50).default([]),
  priority: z.int().min(1).max(10).default(5),
  project: Slug.optional(),
  plan: z
    .unknown()
    .optional()
    .describe('A plan as in docs/plans.md: a value, or text in YAML or JSON. Without one, an agent plans'),
  planner: Planner.optional().describe(
    'The agent that makes the plan. Without a name, any agent with the capability "planning"',
  ),
  startAt: Instant.optional(),
  after: Uuid.optional().describe('It begins when this mission has ended, however it ends'),
  config: MissionSettings.prefault({}),
})

/** What the approval of a newer plan would do, by tempId. */
const PlanPreviewView = z.object({
  added: z.array(z.string()),
  changed: z.array(
    z.object({
      tempId: z.string(),
      taskId: Uuid,
      fields: z.array(z.string()),
      when: z.enum(['now', 'next_attempt']),
    }),
  ),
  cancelled: z.array(z.object({ tempId: z.string(), taskId: Uuid })),
  kept: z.array(
    z.object({ tempId: z.string(), taskId: Uuid, because: z.enum(['ended', 'begun']).nullable() }),
  ),
  digest: z.string(),
})

export const MissionView = z.object({
  id: Uuid,
  goal: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  tags: z.array(z.string()),
  priority: z.int(),
  project: z.string().nullable(),
  config: MissionConfig,
  state: z.enum(missionStates),
  stateType: z.enum(['pending', 'running', 'paused', 'terminal']),
  closedBy: z.array(z.enum(GATE_REASONS)),
  planVersion: z
    .int()
    .nullable()
    .describe('The newest one; after a proposal was rejected, again the approved one'),
  planDigest: z.string().nullable(),
  approvedVersion: z.int().nullable(),
  proposedVersion: z.int().nullable().describe('A newer plan that waits for approval while the mission runs'),
  preview: PlanPreviewView.optional().describe('What its approval would do; where one mission is read'),
  estimate: Estimate.nullable(),
  strategy: z.string().nullable(),
  taskCount: z.int(),
  tasksByState: z.partialRecord(z.enum(taskStates), z.int()),
  tasksCompleted: z.int(),
  tasksFailed: z.int(),
  tokensUsed: z.int(),
  costUsd: z.string().nullable().describe('Of the runs whose cost is known; null: it is known of none'),
  isSimulated: IsSimulated,
  runs: z.int().describe('Runs that have ended'),
  unknownRuns: z.int().describe('Of them, those whose cost is unknown'),
  contractors: z.array(z.string()).describe('Slugs of all contractors that were made for it'),
  createdBy: z.string(),
  resultSummary: z.string().nullable().describe('How it ended, in a sentence; null before its end'),
  errorMessage: z.string().nullable(),
  version: z.int(),
  createdAt: z.string(),
  updatedAt: z.string(),
  startAt: z.string().nullable(),
  after: Uuid.nullable(),
  startedAt: z.string().nullable(),
  completedAt: z.string().nullable(),
  durationMs: z.int().nullable(),
  unseen: z.boolean().describe('It has ended, and nobody has seen that yet: it is in the inbox'),
})

export const PlanVersionView = z.object({
  version: z.int(),
  digest: z.string(),
  taskCount: z.int(),
  strategy: z.string().nullable(),
  estimate: Estimate,
  isApproved: z.boolean(),
  isRejected: z.boolean(),
  proposedBy: z.string(),
  proposedAt: z.string(),
  plan: z.unknown().describe('Only where one version is read'),
  changes: z.unknown().optional().describe('With ?since=: what differs from that version'),
})

/** Before approval, ids are those of the plan, and there is no state. */
const node = {
  id: z.string(),
  number: z.int().nullable().describe('Its place in the plan'),
  title: z.string(),
  state: z.enum(taskStates).nullable(),
  layer: z.int().describe('The longest way from a task without dependencies'),
  purpose: z.enum(PURPOSES),
  agent: z.string().nullable(),
  attempt: z.int(),
  costUsd: z.string().nullable(),
  isSimulated: IsSimulated,
}
const EdgeKind = z.enum(['data', 'order'])
const GraphSeq = z.int().describe('The last event that this answer contains')

export const MissionGraph = z.object({
  nodes: z.array(z.object(node)),
  edges: z.array(z.object({ from: z.string(), to: z.string(), kind: EdgeKind })),
  seq: GraphSeq,
})

/** The same graph as lists, each in the same order. */
export const MissionColumns = z.object({
  nodes: z.object({
    id: z.array(node.id),
    number: z.array(node.number),
    title: z.array(node.title),
    state: z.array(node.state),
    layer: z.array(node.layer),
    purpose: z.array(node.purpose),
    agent: z.array(node.agent),
    attempt: z.array(node.attempt),
    costUsd: z.array(node.costUsd),
    isSimulated: z.array(node.isSimulated),
  }),
  edges: z
    .object({ from: z.array(z.int()), to: z.array(z.int()), kind: z.array(EdgeKind) })
    .describe('From place to place among the nodes; the places after the last node are those of "outside"'),
  outside: z
    .array(z.string())
    .describe('Ids of tasks that are not of the mission, and that its tasks depend on'),
  seq: GraphSeq,
})

export const MissionParams = z.strictObject({ id: Uuid })
export const ApproveBody = z.strictObject({
  planVersion: z
    .int()
    .min(1)
    .optional()
    .describe('The version that was seen; refused when there is a newer one'),
  digest: z.string().max(128).optional(),
  preview: z
    .string()
    .max(128)
    .optional()
    .describe('The digest of the preview that was seen; refused when the approval would do something else'),
  cancel: z
    .array(Tag)
    .max(10_000)
    .optional()
    .describe('Of a mission that runs: tempIds of tasks to cancel, although they were begun'),
  comment: ShortText.optional(),
})
export const RejectBody = z.strictObject({
  // biome-ignore lint/suspicious/noThenProperty: the name that clients use, on a shape that is never awaited
  then: z
    .enum(['fail', 'replan'])
    .default('fail')
    .describe(
      'fail: the mission ends, unless it runs: then it continues with its plan; replan: the planner makes another plan',
    ),
  comment: ShortText.optional(),
  planVersion: z.int().min(1).optional(),
  digest: z.string().max(128).optional(),
})
export const MissionPatchBody = z.strictObject({
  title: Title.optional(),
  description: Text.nullable().optional(),
  tags: z.array(Tag).max(50).optional(),
  budget: Budget.nullable().optional().describe('Null: none any more'),
  maxParallel: z.int().min(1).max(100_000).nullable().optional(),
})
export const MissionAct = z.strictObject({ reason: ShortText.optional() })
export const MissionRetry = MissionAct.extend({
  comment: Text.optional().describe('Added to its thread, in the same transaction'),
})
