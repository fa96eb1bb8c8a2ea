import { z } from 'zod'
import { PURPOSES } from '../../kinds/task/record.ts'
import { TaskPatchBody } from '../../kinds/task/shapes/tasks.ts'

import { Generation, ShortText, Tag, Uuid } from '../../pure/shapes.ts'
import { taskStates } from '../../pure/states.ts'
import { BOARD_COLUMNS, COLUMN_ORDER } from './columns.ts'

/** Tasks as a board shows them. */

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
  tokensUsed: z.int().nullable().describe('Of all its runs'),
  runId: Uuid.nullable().describe('Its last run'),
  workNote: z
    .string()
    .nullable()
    .describe(
      'What the work of its last run lacks: it was not saved, earlier work is missing, files were left out, a result could not be read',
    ),
  commentCount: z.int(),
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
      'With tag, finished tasks are looked for among the newest 10,000 that have it; with q, among the newest 10,000; true: there are more',
    ),
  seq,
})

/** Most tasks that one request reads or acts on. */
const MOST_TASKS = 200

export const CardsBody = z.strictObject({ ids: z.array(Uuid).min(1).max(MOST_TASKS) })
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
