import { z } from 'zod'
import { PURPOSES } from '../../kinds/task/record.ts'
import { EligibleAgent, TaskPatchBody } from '../../kinds/task/shapes/tasks.ts'
import { Generation, IsSimulated, ShortText, Tag, Uuid } from '../../pure/shapes.ts'
import { taskStates } from '../../pure/states.ts'
import { BOARD_COLUMNS, COLUMN_ORDER, MOST_CARDS } from './columns.ts'

/** Tasks as a board shows them. */

/** The first characters of a summary, which is what a card has room for. */
export const SUMMARY_CHARS = 200
/** Agents that are named of those that could take a task. */
export const MOST_NAMED_AGENTS = 3

export const Card = z.object({
  id: Uuid,
  number: z.int().nullable().describe('Its place in the plan of its mission, from 1'),
  key: z.string().nullable(),
  title: z.string(),
  taskType: z.string(),
  purpose: z.enum(PURPOSES),
  state: z.enum(taskStates),
  stateSince: z.string(),
  board: z.enum(BOARD_COLUMNS),
  priority: z.int(),
  project: z.string().nullable(),
  agent: z.string().nullable().describe('The only agent that may do it'),
  holder: z.object({ agent: z.string(), leaseExpiresAt: z.string() }).nullable(),
  lastAgent: z.string().nullable().describe('The agent that held it last, or holds it'),
  generation: z.int(),
  version: z.int(),
  attempt: z.int(),
  maxRetries: z.int(),
  step: z.string().nullable(),
  percent: z.number().nullable(),
  reason: z.string().nullable().describe('Why it waits for a person, or what its last attempt failed with'),
  awaits: z
    .enum(['result', 'question', 'budget', 'person', 'agent'])
    .nullable()
    .describe('What a person has to decide about; agent: nobody takes it'),
  resultDigest: z.string().nullable(),
  dueAt: z.string().nullable(),
  waitsFor: z.array(Uuid).describe('Tasks that it waits for; the first five'),
  openDeps: z.int().describe('How many it waits for, up to 1000'),
  missionId: Uuid.nullable(),
  verification: z.enum(['human', 'verifier', 'baton']).nullable(),
  tags: z.array(z.string()),
  costUsd: z.string().nullable().describe('Of all its runs'),
  isSimulated: IsSimulated,
  tokensUsed: z.int().nullable().describe('Of all its runs'),
  runId: Uuid.nullable().describe('Its last run'),
  workNote: z
    .string()
    .nullable()
    .describe(
      'What the work of its last run lacks: it was not saved, earlier work is missing, files were left out, a result could not be read',
    ),
  commentCount: z.int(),
  summary: z
    .string()
    .nullable()
    .describe(`Of its accepted result: the first ${SUMMARY_CHARS} characters; null while it has not ended`),
  workMs: z
    .int()
    .nullable()
    .describe(
      'How long its attempts took together, without the time between them; null while it has not ended, and once its claims are forgotten',
    ),
  notTaken: z
    .object({
      requiredCapabilities: z.array(z.string()),
      agents: z
        .array(EligibleAgent)
        .describe(`Those that could take it, none of which is at work; the first ${MOST_NAMED_AGENTS}`),
      agentCount: z.int(),
    })
    .nullable()
    .describe('It is queued, and no agent or worker that is there can take it'),
  createdAt: z.string(),
  updatedAt: z.string(),
  completedAt: z.string().nullable(),
})

const Column = z.object({
  count: z.int(),
  items: z.array(Card),
  sort: z.enum(Object.values(COLUMN_ORDER)),
  nextCursor: z.string().nullable(),
})

const seq = z.int().describe('The last event that this answer contains')

export const Board = z.object({
  columns: z
    .partialRecord(z.enum(BOARD_COLUMNS), Column)
    .describe('All of them, or the one that was asked for'),
  counts: z.partialRecord(z.enum(taskStates), z.int()).describe('By state'),
  isDoneBounded: z
    .boolean()
    .describe(
      'With tag, finished tasks are looked for among the newest 10,000 that have it; with q, type or !tag, among the newest 10,000; true: there are more',
    ),
  seq,
})

/** Tags are found in the order of the alphabet; of types, those of open tasks and of the newest finished ones. */
export const MOST_VALUES = 500
export const BoardValues = z.object({
  tags: z.array(z.string()).describe(`The first ${MOST_VALUES}, in the order of the alphabet`),
  types: z.array(z.string()).describe('Of open tasks, and of those that ended last'),
})

/** Most tasks that one request acts on. */
const MOST_TASKS = 200

export const CardsBody = z.strictObject({ ids: z.array(Uuid).min(1).max(MOST_CARDS) })
export const CardsAnswer = z.object({ items: z.array(Card), seq })

export const TASK_ACTS = ['cancel', 'pause', 'resume', 'retry', 'reset', 'archive'] as const

/** What `update` changes: the same for all of them. */
const UpdateFields = z.strictObject({
  priority: TaskPatchBody.shape.priority,
  agent: TaskPatchBody.shape.agent,
  taskType: TaskPatchBody.shape.taskType,
  maxRetries: TaskPatchBody.shape.maxRetries,
  tags: z
    .strictObject({ add: z.array(Tag).max(50).optional(), remove: z.array(Tag).max(50).optional() })
    .optional()
    .describe('Each task keeps its other tags'),
})
export type UpdateFields = z.output<typeof UpdateFields>

export const ActBody = z.strictObject({
  act: z.enum([...TASK_ACTS, 'update']),
  fields: UpdateFields.optional().describe('Of update: what it changes'),
  ids: z.array(Uuid).min(1).max(MOST_TASKS).optional(),
  items: z
    .array(z.strictObject({ id: Uuid, generation: Generation.optional() }))
    .min(1)
    .max(MOST_TASKS)
    .optional()
    .describe('Like ids; each is refused if its generation is another one by now'),
  reason: ShortText.optional(),
  comment: ShortText.optional().describe(
    'Added as a comment to each task for which it is done, in the same transaction',
  ),
})

export const ActAnswer = z.object({
  items: z
    .array(
      z.object({
        id: Uuid,
        done: z.boolean(),
        state: z
          .enum(taskStates)
          .nullable()
          .describe('The present state of the task; null: there is no such task'),
        generation: z.int().nullable(),
        version: z.int().nullable(),
        code: z.string().nullable().describe('Why it was refused'),
        detail: z.string().nullable(),
      }),
    )
    .describe('In the order of the request'),
  done: z.int().describe('For how many it was done'),
})
