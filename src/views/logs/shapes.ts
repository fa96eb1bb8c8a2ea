import { z } from 'zod'
import { LOG_LEVELS } from '../../pure/event.ts'
import { fence, LARGEST_PAGE, limitUpTo } from '../../pure/shapes.ts'

/** One word, so that several can be listed between commas. */
export const LineEvent = z
  .string()
  .max(100)
  .regex(/^[A-Za-z][A-Za-z0-9._-]*$/)

export const LogBody = z.strictObject({
  ...fence,
  entries: z
    .array(
      z.strictObject({
        level: z.enum(LOG_LEVELS).default('INFO'),
        event: LineEvent.default('note').describe(
          'Your own name for what happened. Names with a prefix of Baton’s own events (task_, claim_, agent_ and so on) are refused.',
        ),
        message: z.string().min(1).max(2_000),
        details: z.unknown().optional().describe('Any JSON, at most 16 KiB'),
      }),
    )
    .min(1)
    .max(100),
})

const SEVERAL = 'one or several, separated by commas'

/** The filters of a log. */
export const LogQuery = z.strictObject({
  level: z.string().min(1).max(200).optional().describe(`Exactly these levels: ${SEVERAL}`),
  minLevel: z.enum(LOG_LEVELS).optional().describe('This level and higher ones'),
  event: z
    .string()
    .min(1)
    .max(4_000)
    .optional()
    .describe(`Types of events, or names of lines that holders wrote: ${SEVERAL}`),
  after: z
    .string()
    .regex(/^\d{1,15}$/)
    .optional()
    .describe('nextCursor of the previous page, or the seq of any entry'),
  limit: limitUpTo(LARGEST_PAGE),
  order: z.enum(['asc', 'desc']).optional().describe('Newest first (desc) by default'),
})

export const LogEntryView = z.object({
  seq: z.int(),
  level: z.enum(LOG_LEVELS),
  event: z.string(),
  message: z.string(),
  details: z.unknown(),
  previousState: z.string().nullable(),
  newState: z.string().nullable(),
  agent: z.string().nullable(),
  session: z.string().nullable(),
  generation: z.int().nullable(),
  actor: z.string(),
  actorName: z.string().nullable().describe('The name of the key that acted'),
  createdAt: z.string(),
})
export const CoordinatorEntryView = z.object({
  ...LogEntryView.shape,
  taskId: z.string().nullable(),
})
