import { z } from 'zod'
import { Uuid } from '../../../pure/shapes.ts'

/** What is read of the log of a run beside its text. */

export const LogStatus = z.enum(['writing', 'available'])

/** How far the log was read for an answer. */
const read = {
  runId: Uuid,
  status: LogStatus,
  bytes: z.int().describe('The size of the log now'),
  readBytes: z.int().describe('How far it was read'),
}

export const LogSearchView = z.object({
  ...read,
  hits: z.array(
    z.object({
      offset: z.int(),
      bytes: z.int(),
      stream: z.enum(['stdout', 'stderr', 'system']),
      excerpt: z.string().describe('Its line, or the part around it'),
      at: z.int().describe('Where in the excerpt it begins, in UTF-16 units'),
      length: z.int().describe('Its length there'),
    }),
  ),
  total: z.int().describe('All hits in the part that was read, not only those listed'),
  isComplete: z.boolean().describe('Whether the whole log was read, so that the total covers all of it'),
  nextCursor: z
    .string()
    .nullable()
    .describe('Sent as `after`: more hits, or the rest of the log. Null: everything is listed'),
})

const Marks = z.object({
  count: z.int().describe('All of them'),
  offsets: z.array(z.int()).describe('Where they begin; of very many, some are left out at even distances'),
})

export const LogOutline = z.object({
  ...read,
  isComplete: z.boolean().describe('Whether the whole log was read; if not, the same request continues'),
  lines: z.int(),
  everyLines: z.int(),
  lineOffsets: z.array(z.int()).describe('Where line 1 begins, then each line after so many more'),
  steps: Marks.describe('What the agent did, as in the transcript'),
  errors: Marks.describe('Failed steps, and lines that look like errors'),
  stderr: Marks.describe('Where output on stderr begins after other output'),
})

/** As many as one socket follows. */
const MOST_TAILS = 16

export const TailsBody = z.strictObject({
  ids: z.array(Uuid).min(1).max(MOST_TAILS),
  bytes: z.int().min(1).max(65_536).default(16_384).describe('Of each log'),
})

export const TailsAnswer = z.object({
  items: z.array(
    z.object({
      runId: Uuid,
      offset: z.int(),
      content: z.string(),
      spans: z.array(z.object({ offset: z.int(), bytes: z.int(), stream: z.string(), ts: z.string() })),
    }),
  ),
})
