import { z } from 'zod'
import { Budget } from '../../../pure/budget.ts'
import {
  Fresh,
  Generation,
  Instant,
  IsSimulated,
  listOf,
  Name,
  ShortText,
  Slug,
  Tag,
  Text,
  Title,
  Uuid,
} from '../../../pure/shapes.ts'
import { AGENT_STATES, TRIGGER_RULES, taskStates } from '../../../pure/states.ts'
import { PURPOSES } from '../record.ts'
import { DEFAULT_MAX_CONTINUATIONS } from '../rules/retry.ts'
import { parseTaskKey } from '../rules/task-keys.ts'
import { DEPENDENCY_KINDS } from '../rules/upstream-counts.ts'
import { AwaitsView, QuestionView } from './people.ts'
import { planFields, planFieldViews, TaskPlanView, TaskVerification, ToolsRequested } from './plan-fields.ts'

export const TASK_KEY_PATTERN = '^[A-Z]{1,8}-(?!000)[0-9]{3}-[a-zA-Z0-9_-]{1,50}(::[1-9][0-9]{0,5})?$'

const DAY_SECONDS = 86_400
const Timeout = z.int().min(1).max(DAY_SECONDS)

export const Timeouts = z.strictObject({
  assignSeconds: Timeout.optional().describe('How long it may wait to be started after it was claimed'),
  stallSeconds: Timeout.optional().describe('The longest silence of its holder'),
  verifySeconds: Timeout.optional().describe(
    'How long an attempt at its verification may take, from its start',
  ),
  hangGraceSeconds: z
    .int()
    .min(0)
    .max(86_400)
    .optional()
    .describe('How far it may exceed its estimate before it is suspected to hang'),
  hangAbortSeconds: Timeout.optional().describe('How long without progress from then on'),
  attemptSeconds: z
    .int()
    .min(1)
    .max(7 * DAY_SECONDS)
    .optional()
    .describe('How long one attempt may take, from its start'),
  deadlineSeconds: z
    .int()
    .min(1)
    .max(365 * DAY_SECONDS)
    .optional()
    .describe('How long all attempts may take together, from the first time it is queued; then it fails'),
})

const LONGEST_ESTIMATE_MINUTES = 525_600

const MaxContinuations = z.int().min(0).max(1_000)

const LARGEST_TASK_BATCH = 10_000

/** By its id alone, a task depends on the result of another. */
const Dependency = z.union([
  Uuid,
  z.strictObject({
    on: Uuid,
    kind: z
      .enum(DEPENDENCY_KINDS)
      .optional()
      .describe('data, the default: the result is handed on; order: it only comes earlier'),
  }),
])
const Dependencies = z.array(Dependency).max(LARGEST_TASK_BATCH)

export const TaskCreate = z.strictObject({
  title: Title,
  taskType: Tag.default('other'),
  priority: z.int().min(1).max(10).default(5),
  description: Text.nullable().optional(),
  input: z.unknown().optional(),
  tags: z.array(Tag).max(50).default([]),
  metadata: z.record(z.string(), z.unknown()).optional().describe('Stored and shown, never interpreted'),
  project: Slug.optional(),
  userId: Name.optional().describe('The user the task belongs to'),
  parentId: Uuid.optional().describe('The task it is a part of'),
  merge: z
    .enum(['object', 'task'])
    .default('object')
    .describe("For a part: the result of the whole is the parts' results in order, or an agent joins them"),
  idempotencyKey: Name.optional().describe(
    'Created once; a repeated request within a day gets the first task',
  ),
  key: z
    .string()
    .regex(new RegExp(TASK_KEY_PATTERN))
    .optional()
    .describe('A Coditect task key such as B-003-implement-dashboard::2'),
  dependsOn: Dependencies.default([]),
  triggerRule: z.enum(TRIGGER_RULES).default('all_success'),
  requiredCapabilities: z.array(Tag).max(50).default([]),
  agent: Slug.optional().describe('Only this agent may claim the task'),
  maxRetries: z.int().min(0).max(100).default(3),
  maxContinuations: MaxContinuations.default(DEFAULT_MAX_CONTINUATIONS).describe(
    'How many continuations a holder may request within one attempt',
  ),
  runAt: Instant.optional().describe('Scheduled: the task is not queued before this time'),
  expiresAt: Instant.optional().describe('If no agent has claimed it by then, it is cancelled'),
  verification: TaskVerification.optional().describe('Who judges its result'),
  timeouts: Timeouts.optional().describe('Missing ones are those of the workspace'),
  estimatedDurationMinutes: z
    .number()
    .positive()
    .max(LONGEST_ESTIMATE_MINUTES)
    .optional()
    .describe('How long it should take from its start'),
  mission: Uuid.optional().describe('The running mission it belongs to; its priority is the default then'),
  optional: z.boolean().default(false).describe('Its failure does not fail its mission'),
  fresh: z.boolean().default(false).describe('Each attempt starts over: from the base, in a new session'),
  ...planFields,
  toolsRequested: ToolsRequested.default([]),
  budget: Budget.optional().describe('For all its runs together; when it is used up, a person is asked'),
})
export type TaskCreate = z.input<typeof TaskCreate>

export const TaskCreateBatch = z.strictObject({ tasks: z.array(TaskCreate).min(1).max(LARGEST_TASK_BATCH) })

export const TaskPatchBody = z.strictObject({
  title: Title.optional(),
  description: Text.nullable().optional(),
  tags: z.array(Tag).max(50).optional(),
  priority: z.int().min(1).max(10).optional(),
  maxRetries: z.int().min(0).max(100).optional(),
  maxContinuations: MaxContinuations.optional(),
  taskType: Tag.optional().describe('Refused while an agent works on the task'),
  agent: Slug.nullable().optional(),
  dependsOn: Dependencies.optional().describe('Dependencies to add'),
  removeDependsOn: z
    .array(Uuid)
    .max(LARGEST_TASK_BATCH)
    .optional()
    .describe(
      'Dependencies to remove. A task that has none left to wait for is queued. Refused for one that has begun or ended',
    ),
  budget: Budget.nullable()
    .optional()
    .describe(
      'More than its runs have used. A task that waits because it had spent its previous budget continues',
    ),
})

export const DependenciesBody = z.strictObject({
  dependsOn: Dependencies.min(1),
  triggerRule: z.enum(TRIGGER_RULES).optional().describe('Only for a task without dependencies'),
})

export const OperatorAct = z.strictObject({
  reason: ShortText.optional(),
  comment: Text.optional().describe('Added to the thread of the task, in the same transaction'),
  generation: Generation.optional().describe('Refused when the task has another generation'),
})

export const RetryAct = OperatorAct.extend({ fresh: Fresh.optional() })

/** What the narrow row alone holds of a task: answers to holders show this, not what people wrote. */
export const BriefTask = z.object({
  id: Uuid,
  key: z.string().nullable(),
  track: z.string().nullable(),
  merge: z.enum(['object', 'task']).nullable(),
  state: z.enum(taskStates),
  stateType: z.enum(['pending', 'running', 'paused', 'terminal']),
  board: z.enum(['inbox', 'assigned', 'in_progress', 'review', 'done']),
  priority: z.int(),
  generation: z.int(),
  epoch: z.int(),
  version: z.int(),
  attempt: z.int(),
  maxRetries: z.int(),
  continuations: z.int(),
  maxContinuations: z.int(),
  agent: z.string().nullable(),
  requiredCapabilities: z.array(z.string()),
  verification: z.object({ kind: z.enum(['human', 'verifier', 'baton']) }).nullable(),
  holder: z
    .object({
      ...{ agent: z.string(), session: z.string(), generation: z.int(), leaseExpiresAt: z.string() },
      metadata: z.record(z.string(), z.unknown()).optional().describe('What it said about itself'),
    })
    .nullable(),
  timeouts: Timeouts.nullable(),
  estimatedDurationMinutes: z.number().nullable(),
  dueAt: z.string().nullable(),
  expiresAt: z.string().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  startedAt: z.string().nullable(),
  completedAt: z.string().nullable(),
  archivedAt: z.string().nullable(),
  purpose: z.enum(PURPOSES),
  optional: z.boolean(),
  servesTask: Uuid.nullable().describe('The task whose result a verification judges'),
  servesGeneration: z.int().nullable().describe('The generation that made this result'),
  resultDigest: z
    .string()
    .nullable()
    .describe(
      'Identifies the result that is accepted, or awaits a verdict, and the commit of its work; approvals name it',
    ),
})

export const TaskView = BriefTask.extend({
  title: z.string(),
  taskType: z.string(),
  description: z.string().nullable(),
  input: z.unknown(),
  tags: z.array(z.string()),
  dependsOn: z.array(Uuid),
  project: z.string().nullable(),
  parentId: Uuid.nullable(),
  missionId: Uuid.nullable(),
  plan: TaskPlanView.nullable().describe('What its plan, or its creator, says about it'),
  userId: z.string().nullable(),
  metadata: z.unknown(),
  createdBy: z.string().nullable(),
  error: z.string().nullable(),
  failureClass: z.string().nullable(),
  exitCode: z.int().nullable().describe('How the program of its last attempt exited, if that failed'),
  progress: z
    .object({
      percent: z.number().nullable(),
      step: z.string().nullable(),
      estimatedCompletionAt: z.string().nullable(),
      updatedAt: z.string().nullable(),
    })
    .nullable(),
  checkpointData: z.unknown(),
  question: QuestionView.nullable().describe('The last question of a holder, and its answer'),
  awaits: AwaitsView.nullable().describe('What it needs a person for'),
  commentCount: z.int().describe('Comments on the task itself; those of its mission are not counted'),
})

const Neighbour = z.object({
  taskId: Uuid,
  key: z.string().nullable(),
  title: z.string(),
  state: z.enum(taskStates),
  kind: z.enum(DEPENDENCY_KINDS),
})

/** How many neighbours are listed on each side. */
export const NEIGHBOURS = 1_000

/** Who judged the results of a task. */
export const VerifiedTask = z.object({
  verifications: z
    .array(
      z.object({
        taskId: Uuid.describe('The task that judged it'),
        generation: z.int().describe('Of the judged result'),
        state: z.enum(taskStates),
        verifier: z.string().nullable(),
        verdict: z.enum(['pass', 'fail', 'unsure']).nullable(),
        score: z.number().nullable(),
        feedback: z.string().nullable(),
        evidence: z.array(z.unknown()),
        costUsd: z.string().nullable(),
        isSimulated: IsSimulated,
      }),
    )
    .describe('Oldest first'),
  verifiedBy: z.string().nullable().describe('Of the last verdict: an agent, or baton for its own check'),
  verifierScore: z.number().nullable(),
})

/** An agent that may claim a queued task. */
export const EligibleAgent = z.object({
  slug: z.string(),
  state: z.enum(AGENT_STATES),
  stateReason: z.string().nullable(),
  leaving: z.boolean(),
})

/** A task with what is around it. */
export const TaskInGraph = TaskView.extend({
  ...VerifiedTask.shape,
  summary: z.string().nullable().describe('Of the result that is accepted, or awaits a verdict'),
  workProductRef: z.string().nullable(),
  sequenceNumber: z.int().nullable().describe('Its place in the plan of its mission, from 1'),
  triggerRule: z.enum(TRIGGER_RULES).nullable().describe('Null: it depends on nothing'),
  lastAgent: z.string().nullable().describe('Who has it, or had it last'),
  agentType: z.enum(['roster', 'contractor']).nullable().describe('Of that agent'),
  tokensUsed: z.int().describe('By all its runs and claims'),
  costUsd: z.string().nullable().describe('Of all its runs and claims; null: none has a known cost'),
  notionalUsd: z.string().nullable().describe('Of that, what is not paid by use, as with a subscription'),
  isSimulated: IsSimulated,
  efficiency: z
    .object({
      changedLines: z.int(),
      expectedTokens: z.int().describe('What so many lines may take (project.tokensPerLine)'),
      tokensUsed: z.int().describe('Without cached input'),
      efficiency: z.number(),
      isLow: z.boolean().describe('Below 0.5: look at the log of its agent for waste'),
    })
    .nullable()
    .describe('Null: no run has worked on a branch, or nothing is known of its usage'),
  durationMs: z.int().nullable().describe('From its start to its end'),
  blockedBy: z.array(Neighbour).describe(`What it depends on, ended or not; the first ${NEIGHBOURS}`),
  blocks: z.array(Neighbour).describe(`What depends on it; the first ${NEIGHBOURS}`),
  eligible: z
    .object({
      agents: z.array(EligibleAgent),
      workers: z.int(),
    })
    .nullable()
    .describe(
      'Who may claim it while it is queued: agents, those at work first and at most 20, and how many workers',
    ),
  ...planFieldViews,
})

/** A task in a list. */
export const ListedTask = TaskView.extend({
  input: z.unknown().optional().describe('With include=input'),
  checkpointData: z.unknown().optional().describe('With include=checkpointData'),
  summary: z
    .string()
    .nullable()
    .optional()
    .describe('With include=summary: of the result that is accepted, or awaits a verdict'),
})

const DependencyView = z.object({
  taskId: Uuid,
  key: z.string().nullable(),
  title: z.string(),
  state: z.enum(taskStates),
  triggerRule: z.enum(TRIGGER_RULES),
  kind: z.enum(DEPENDENCY_KINDS),
})

export const DependencyList = listOf(DependencyView).extend({
  blocks: z.array(Neighbour).describe(`What depends on it; the first ${NEIGHBOURS}`),
})

export const isTaskKey = (text: string) => parseTaskKey(text) !== null
