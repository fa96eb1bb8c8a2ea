import { z } from 'zod'
import { LOG_LEVELS } from '../log.ts'
import { fence } from './common.ts'

/** A word, so that several may stand in a list between commas. */
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
          'A name of your own for what happened. Names that begin as those of Baton’s own events do (task_, claim_, agent_ and so on) are refused.',
        ),
        message: z.string().min(1).max(2_000),
        details: z.unknown().optional().describe('Any JSON, at most 16 KiB of it'),
      }),
    )
    .min(1)
    .max(100),
})

const SEVERAL = 'one or several, with commas between them'

/** How a log may be narrowed. */
export const LogQuery = z.strictObject({
  level: z.string().min(1).max(200).optional().describe(`Exactly these levels: ${SEVERAL}`),
  minLevel: z.enum(LOG_LEVELS).optional().describe('This level and what is worse'),
  event: z
    .string()
    .min(1)
    .max(4_000)
    .optional()
    .describe(`Types of events, or names that holders gave to their lines: ${SEVERAL}`),
  after: z
    .string()
    .regex(/^\d{1,15}$/)
    .optional()
    .describe('nextCursor of the page before, or the seq of any entry'),
  limit: z
    .string()
    .regex(/^\d{1,15}$/)
    .optional(),
  order: z.enum(['asc', 'desc']).optional().describe('Newest first (desc) unless it says otherwise'),
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
