import { z } from 'zod'

const MIB = 1024 * 1024

/** What a workspace may do (Coditect 7.2). Defaults are the document's; `lateResults` is DESIGN 4.4. */
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
})

/** With how much of them is used. */
export const LimitsInUse = LimitsSchema.extend({
  usage: z.object({ activeClaims: z.int(), activeSessions: z.int() }),
})

export type Limits = z.infer<typeof LimitsSchema>
export const DEFAULT_LIMITS: Limits = LimitsSchema.parse({})
export const DEFAULT_LEASE_SECONDS = 300
