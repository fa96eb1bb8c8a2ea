import { z } from 'zod'
import { Fresh, fence, Generation, ShortText, Tag, Text } from '../../../pure/shapes.ts'
import { WAIT_KINDS } from '../rules/waiting.ts'

/** What people are asked, and what they answer. */

const Question = z.string().min(1).max(4_000)
const Options = z.array(Tag).max(20)

export const AskBody = z.strictObject({
  ...fence,
  question: Question,
  options: Options.optional().describe('The possible answers; without them, any text is one'),
})

export const Answer = z.string().min(1).max(20_000)

export const AnswerBody = z.strictObject({
  answer: Answer.describe('One of the options, if the question has any'),
  generation: Generation.optional().describe('The generation that asked; refused when it is another one'),
})

export const QuestionView = z.object({
  question: z.string(),
  options: z.array(z.string()),
  generation: z.int().describe('The generation that asked'),
  askedBy: z.string(),
  askedAt: z.string(),
  answer: z.string().nullable(),
  answeredBy: z.string().nullable(),
  answeredAt: z.string().nullable(),
})

/** What a task waits for a person with. */
export const AwaitsView = z.object({
  kind: z.enum(WAIT_KINDS),
  reason: z.string().nullable(),
  since: z.string(),
})

/** The result that a person saw, as `resultDigest` names it. */
export const Digest = z.string().min(1).max(128)

export const ApproveTask = z.strictObject({
  reason: ShortText.optional(),
  comment: ShortText.optional(),
  generation: Generation.optional().describe(
    'The generation whose result is judged; refused when it is another one',
  ),
  digest: Digest.optional().describe('The resultDigest that was seen; refused when it is another one'),
})

export const RejectTask = ApproveTask.extend({
  // biome-ignore lint/suspicious/noThenProperty: the name that clients use, on a shape that is never awaited
  then: z
    .enum(['retry', 'fail'])
    .optional()
    .describe('Whether the task is tried again, while attempts are left (the default), or fails'),
  fresh: Fresh.optional(),
})

export const CompleteBody = z.strictObject({
  result: z.unknown(),
  summary: ShortText.optional(),
  comment: ShortText.optional(),
  generation: Generation.optional().describe('The generation that was seen; refused when it is another one'),
})

export const SkipBody = z.strictObject({
  reason: Text.min(1).max(2_000),
  generation: Generation.optional(),
})
