import { z } from 'zod'
import { Name, Page, Slug, Tag, Uuid } from '../../pure/shapes.ts'
import { CLAIM_ENDS, type ClaimEnd, SESSION_STATES, taskStates } from '../../pure/states.ts'
import { RenewedClaim } from '../task/shapes/claims.ts'

const WEEK_SECONDS = 604_800

export const SessionBody = z.strictObject({
  session: Name.optional(),
  agent: Slug.optional(),
  userId: Name.optional(),
  project: Slug.optional().describe('The project whose tracks its session memory shows'),
  ttlSeconds: z
    .int()
    .min(1)
    .max(WEEK_SECONDS)
    .optional()
    .describe('The longest silence; after that a session without claims ends'),
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
    .describe('The longest silence; after that the worker is lost and loses the tasks it holds'),
})

export const StalledBody = z.strictObject({
  silentMs: z
    .int()
    .min(0)
    .max(WEEK_SECONDS * 1000)
    .default(60_000)
    .describe('Held tasks without a sign of life for this long are revoked'),
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

const HeldTask = z.object({
  taskId: Uuid,
  key: z.string().nullable(),
  title: z.string(),
  state: z.enum(taskStates),
  agent: z.string(),
  leaseExpiresAt: z.string(),
})

/** In lists: with what it holds. */
export const ListedSession = SessionView.extend({
  holds: z.int().describe('How many tasks it holds'),
  holding: z.array(HeldTask).describe('The first 10 of them'),
})

export const SessionQuery = z.strictObject({
  ...Page,
  state: z.enum(SESSION_STATES).optional(),
  project: Slug.optional().describe('Sessions that named this project, or hold a task of it'),
})

export const DrainAnswer = SessionView.extend({
  holds: z.int().describe('How many tasks it still has to finish'),
})

const heartbeat = {
  state: z.enum(SESSION_STATES),
  expiresAt: z.string().nullable(),
  renewed: z.array(RenewedClaim),
  lost: z
    .array(
      z.object({
        taskId: Uuid,
        generation: z.int(),
        reason: z.enum(Object.keys(CLAIM_ENDS) as ClaimEnd[]),
        at: z.string().nullable(),
      }),
    )
    .describe('Claims that ended since its last heartbeat'),
}
export const SessionHeartbeatAnswer = z.object({ session: z.string(), ...heartbeat })
export const WorkerHeartbeatAnswer = z.object({ worker: z.string(), ...heartbeat })
export const StalledAnswer = z.object({ requeued: z.int() })

const SessionLogEntry = z.object({
  timestamp: z.string(),
  event: z.enum(['CLAIM_ACQUIRED', 'LEASE_RENEWED', 'RESULT_SUBMITTED', 'CLAIM_LOST', 'CLAIM_RELEASED']),
  taskId: Uuid,
  key: z.string().nullable(),
  track: z.string().nullable(),
  sequence: z.int().nullable(),
  generation: z.int(),
  agent: z.string(),
  outcome: z.enum(['ACCEPTED', 'REJECTED', 'PENDING']).nullable(),
  workProductRef: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
})

/** Session memory (Coditect 3.5). */
export const SessionMemoryView = SessionView.extend({
  lastActivity: z.string(),
  taskLog: z.array(SessionLogEntry),
  taskLogIsWhole: z.boolean().describe('Whether the log starts at the start of the session'),
  activeClaims: z.array(
    z.object({
      taskId: Uuid,
      key: z.string().nullable(),
      generation: z.int(),
      agent: z.string(),
      leaseExpiresAt: z.string(),
      expiresAt: z.string().describe('The same as leaseExpiresAt'),
    }),
  ),
  completedTasks: z.array(z.string()).describe('Their keys, or the ids of those without one'),
  trackAssignments: z.record(z.string(), z.array(z.string())).describe('Agents by track'),
  trackProgress: z.record(
    z.string(),
    z.object({ completed: z.int(), inProgress: z.int(), pending: z.int() }),
  ),
})
