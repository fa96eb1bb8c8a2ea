import { z } from 'zod'
import { isTimeZone, TIME_ZONE_NAME } from '../routine/rules/time-zone.ts'

const MIB = 1024 * 1024

/**
 * The limits of a workspace (Coditect 7.2). Defaults are those of the document; `lateResults` is DESIGN 4.4, the times are
 * from Automatos 3.7 and Mosaic. Without a stall timeout, the lease is the longest silence a holder may keep.
 */
export const LimitsSchema = z.strictObject({
  minLeaseSeconds: z.int().min(1).max(3600).default(30),
  maxLeaseSeconds: z.int().min(1).max(86_400).default(3600),
  maxConcurrentClaims: z.int().min(1).max(10_000_000).default(100),
  maxGenerationsPerTask: z.int().min(1).max(1_000_000).default(100),
  maxResultBytes: z
    .int()
    .min(1024)
    .max(100 * MIB)
    .default(10 * MIB),
  maxActiveSessions: z.int().min(1).max(1_000_000).default(50),
  claimHistoryRetentionDays: z.int().min(1).max(36_500).default(90),
  lateResults: z.boolean().default(true),
  assignTimeoutSeconds: z
    .int()
    .min(1)
    .max(86_400)
    .describe('How long an assigned task may wait to be started')
    .default(120),
  stallTimeoutSeconds: z
    .int()
    .min(1)
    .max(86_400)
    .nullable()
    .describe(
      'The longest silence of a holder that has started; applies from its next start or sign of life; null: its lease',
    )
    .default(null),
  verifyTimeoutSeconds: z
    .int()
    .min(1)
    .max(86_400)
    .describe('How long a verdict may take before a person is asked')
    .default(180),
  hangGraceSeconds: z
    .int()
    .min(0)
    .max(86_400)
    .describe('How far a task may exceed its estimate before it is suspected to hang')
    .default(1_800),
  hangAbortSeconds: z
    .int()
    .min(1)
    .max(86_400)
    .describe('How long a task that is suspected to hang may go without progress')
    .default(600),
  branchRetentionDays: z
    .int()
    .min(0)
    .max(36_500)
    .describe('How long the branches of a task that has ended stay; accepted work stays longer; 0: for ever')
    .default(30),
  queueOrder: z
    .enum(['priority', 'shortest_first'])
    .describe('Whether short tasks go first; applies to tasks queued from then on')
    .default('priority'),
  timeZone: z
    .string()
    .regex(TIME_ZONE_NAME)
    .refine(isTimeZone)
    .describe('Days, weeks and months of budgets begin at its midnight')
    .default('UTC'),
})

/** The limits, and how much of them is in use. */
export const LimitsInUse = LimitsSchema.extend({
  usage: z.object({ activeClaims: z.int(), activeSessions: z.int() }),
})

export type Limits = z.infer<typeof LimitsSchema>

/** What bounds the share of a workspace in a server that it shares with others. The rest is its own affair. */
const BOUNDS = {
  minLeaseSeconds: 'at least',
  maxLeaseSeconds: 'at most',
  maxConcurrentClaims: 'at most',
  maxGenerationsPerTask: 'at most',
  maxResultBytes: 'at most',
  maxActiveSessions: 'at most',
  claimHistoryRetentionDays: 'at most',
} as const satisfies Partial<Record<keyof Limits, string>>

/** The limits that a change would widen. Whoever runs the server decides about those; a workspace can only narrow them. */
export const widenedLimits = (present: Limits, changed: Partial<Limits>): (keyof Limits)[] =>
  (Object.keys(BOUNDS) as (keyof typeof BOUNDS)[]).filter((field) => {
    const wanted = changed[field] ?? present[field]
    return BOUNDS[field] === 'at most' ? wanted > present[field] : wanted < present[field]
  })
export const DEFAULT_LIMITS: Limits = LimitsSchema.parse({})
export const DEFAULT_LEASE_SECONDS = 300
