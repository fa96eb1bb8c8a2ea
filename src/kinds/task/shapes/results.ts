import { z } from 'zod'
import { Uuid } from '../../../pure/shapes.ts'
import { BriefTask } from './tasks.ts'

export const ResultView = z.object({
  workProductRef: z.string(),
  generation: z.int(),
  epoch: z.int(),
  session: z.string(),
  agent: z.string().nullable(),
  accepted: z.boolean().nullable().describe('Null while a verdict is awaited'),
  rejectionReason: z.string().nullable(),
  result: z.unknown(),
  summary: z.string().nullable(),
  commit: z
    .string()
    .nullable()
    .describe('The commit of the work; null: it was not made in a git worktree of Baton'),
  processingMs: z
    .int()
    .nullable()
    .describe('From its claim to its submission, also of a rejected one; null: it is not known'),
  submittedAt: z.string(),
})

export const ResultOfTask = ResultView.extend({ taskId: Uuid })
export const RejectedResult = ResultOfTask.extend({
  result: z.unknown().optional().describe('With include=result'),
})

/** JSON Patch (RFC 6902). */
const PatchOperation = z.object({
  op: z.enum(['add', 'remove', 'replace', 'move', 'copy', 'test']),
  path: z.string(),
  from: z.string().optional(),
  value: z.unknown().optional(),
})

export const ResultDiff = z.object({
  result: ResultView,
  accepted: ResultView.nullable(),
  patch: z.array(PatchOperation).nullable().describe('From the accepted result to this one'),
  isEqual: z.boolean(),
})

export const PromoteAnswer = z.object({
  reason: z.literal('PROMOTED'),
  workProductRef: z.string(),
  task: BriefTask,
})
