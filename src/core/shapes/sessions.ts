import { z } from 'zod'
import { SESSION_STATES } from '../states.ts'
import { Name, Slug, Tag } from './common.ts'

const WEEK_SECONDS = 604_800

export const SessionBody = z.strictObject({
  session: Name.optional(),
  agent: Slug.optional(),
  userId: Name.optional(),
  project: Slug.optional().describe('Whose tracks its memory tells of'),
  ttlSeconds: z
    .int()
    .min(1)
    .max(WEEK_SECONDS)
    .optional()
    .describe('Silent for longer, and holding nothing, it ends'),
})

export const WorkerBody = z.strictObject({
  worker: Name.optional().describe('Its name, which is also the session it claims under'),
  agent: Slug.optional(),
  userId: Name.optional(),
  project: Slug.optional(),
  capacity: z.int().min(1).max(100_000).describe('How many tasks it can hold at once'),
  capabilities: z.array(Tag).max(50).default([]),
  heartbeatSeconds: z
    .int()
    .min(1)
    .max(86_400)
    .default(60)
    .describe('Silent for longer, it is taken to be lost and loses what it holds'),
})

export const StalledBody = z.strictObject({
  silentMs: z
    .int()
    .min(0)
    .max(WEEK_SECONDS * 1000)
    .default(60_000)
    .describe('Held tasks without a sign of life for so long are taken away'),
})

export const SessionView = z.object({
  id: z.string(),
  session: z.string(),
  agent: z.string().nullable(),
  userId: z.string().nullable(),
  project: z.string().nullable(),
  state: z.enum(SESSION_STATES),
  capacity: z.int().nullable(),
  capabilities: z.array(z.string()),
  silenceSeconds: z.number(),
  startedAt: z.string(),
  lastSeenAt: z.string(),
  expiresAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  endReason: z.string().nullable(),
})
