import { z } from 'zod'
import { FAILURE_CLASSES } from '../retry.ts'
import { fence, Instant, LeaseSeconds, Name, ShortText, Slug, Tag, Track, Uuid } from './common.ts'

const holder = { agent: Slug, session: Name, leaseSeconds: LeaseSeconds.optional() }

export const ClaimBody = z.strictObject(holder)
export const NextBody = z.strictObject({
  ...holder,
  capabilities: z.array(Tag).max(50).optional(),
  project: Slug.optional().describe('Only tasks of this project'),
  tracks: z.array(Track).min(1).max(100).optional().describe('Only tasks of these tracks'),
  limit: z.int().min(1).max(1000).default(1),
  waitMs: z.int().min(0).max(60_000).default(0),
})
export const ClaimBatchBody = z.strictObject({ ...holder, taskIds: z.array(Uuid).min(1).max(1000) })

export const RenewBody = z.strictObject({ ...fence, leaseSeconds: LeaseSeconds.optional() })
export const RenewBatchBody = z.strictObject({
  renewals: z
    .array(z.strictObject({ taskId: Uuid, ...fence, leaseSeconds: LeaseSeconds.optional() }))
    .min(1)
    .max(1000),
})
export const FenceBody = z.strictObject(fence)
export const ReleaseBody = z.strictObject({ ...fence, reason: ShortText.default('VOLUNTARY') })
export const ProgressBody = z.strictObject({
  ...fence,
  percent: z.number().min(0).max(100).optional(),
  step: ShortText.optional(),
  checkpointData: z.unknown().optional(),
  estimatedCompletionAt: Instant.optional().describe('When it will be done; not in the past'),
})
export const SubmitBody = z.strictObject({ ...fence, result: z.unknown(), summary: ShortText.optional() })
export const ResultBatchBody = z.strictObject({
  results: z
    .array(z.strictObject({ taskId: Uuid, ...fence, result: z.unknown(), summary: ShortText.optional() }))
    .min(1)
    .max(1000),
})
export const FailBody = z.strictObject({
  ...fence,
  failureClass: z.enum(FAILURE_CLASSES).default('infrastructure'),
  error: ShortText.optional(),
  retryAt: Instant.optional(),
})

const ClaimView = z.object({
  taskId: Uuid,
  generation: z.int(),
  session: z.string(),
  agent: z.string(),
  state: z.string(),
  attempt: z.int(),
  leaseExpiresAt: z.string(),
  ttlMs: z.number(),
  checkpointData: z.unknown().describe('What the last holder that left something left'),
})

export const ClaimAnswer = z.object({ reason: z.literal('GRANTED'), claim: ClaimView })
