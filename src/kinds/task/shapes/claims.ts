import { z } from 'zod'
import { ERRORS, type ErrorCode } from '../../../pure/errors.ts'
import {
  fence,
  Instant,
  LeaseSeconds,
  Name,
  ShortText,
  Slug,
  Tag,
  Track,
  Uuid,
} from '../../../pure/shapes.ts'
import { CLAIM_ENDS, CLAIM_STATES, type ClaimEnd } from '../../../pure/states.ts'
import { ReportedUsage } from '../../usage/shapes.ts'
import { PURPOSES } from '../record.ts'
import { FAILURE_CLASSES } from '../rules/retry.ts'
import { BriefTask, TaskView } from './tasks.ts'

const ClaimMetadata = z
  .record(Tag, z.unknown())
  .describe(
    'What the holder says about itself, up to 4,096 characters of JSON; shown with the claim and in its event',
  )

const holder = {
  agent: Slug,
  session: Name,
  leaseSeconds: LeaseSeconds.optional().describe('Default: what the task should take, if that is long'),
  metadata: ClaimMetadata.optional(),
}

export const ClaimBody = z.strictObject(holder)
const choice = {
  capabilities: z.array(Tag).max(50).optional(),
  project: Slug.optional().describe('Only tasks of this project'),
  tracks: z.array(Track).min(1).max(100).optional().describe('Only tasks of these tracks'),
  purposes: z
    .array(z.enum(PURPOSES))
    .min(1)
    .max(PURPOSES.length)
    .optional()
    .describe('Only tasks that are for this. Default: work'),
}
export const NextBody = z.strictObject({
  ...holder,
  ...choice,
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
export const ContinueBody = z.strictObject({
  ...fence,
  after: z
    .array(Uuid)
    .min(1)
    .max(100)
    .optional()
    .describe('Tasks of the same mission: the claim ends, and the task continues when they have ended'),
})
export const ReleaseBody = z.strictObject({ ...fence, reason: ShortText.default('VOLUNTARY') })
const HoldersUsage = ReportedUsage.optional().describe(
  'What the claim has used so far, as totals, of an agent that Baton does not run',
)

export const ProgressBody = z.strictObject({
  ...fence,
  percent: z.number().min(0).max(100).optional(),
  step: ShortText.optional(),
  checkpointData: z.unknown().optional(),
  estimatedCompletionAt: Instant.optional().describe('When the task will be done; not in the past'),
  usage: HoldersUsage,
})
/** The next task of a session that submits a result. */
const { session: _itsOwn, ...asHolder } = holder
export const ThenNext = z.strictObject({ ...asHolder, ...choice })
export const SubmitBody = z.strictObject({
  ...fence,
  result: z.unknown(),
  summary: ShortText.optional(),
  usage: HoldersUsage,
  next: ThenNext.optional().describe(
    'Claim the next task in the same transaction, if the result is accepted',
  ),
})
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
  stack: z.string().max(16_384).optional().describe('Where it failed; kept in the event of the failure'),
  retryAt: Instant.optional(),
})

export const ClaimView = z.object({
  taskId: Uuid,
  generation: z.int(),
  session: z.string(),
  agent: z.string(),
  state: z.enum(CLAIM_STATES),
  attempt: z.int(),
  leaseExpiresAt: z.string(),
  ttlMs: z.number(),
  checkpointData: z.unknown().describe('The last checkpoint of a holder'),
})

export const ClaimAnswer = z.object({ reason: z.literal('GRANTED'), claim: ClaimView })
const ClaimedTask = ClaimView.extend({ task: TaskView })
export const NextAnswer = z.object({ claims: z.array(ClaimedTask) })

/** A request to the holder: it is suspected to hang, and loses the task at `abortAt` without progress. */
export const HolderRequestView = z.object({
  type: z.literal('report_progress'),
  since: z.string(),
  abortAt: z.string(),
})

/** What people said to the holder since its claim: the last five. */
export const MessageView = z
  .object({ commentId: Uuid, text: z.string(), at: z.string() })
  .describe('A comment on the task that is for its holder, too')

export const RenewAnswer = z.object({
  reason: z.literal('RENEWED'),
  leaseExpiresAt: z.string(),
  ttlMs: z.number(),
  requests: z.array(HolderRequestView),
  messages: z.array(MessageView).describe('The last five since its claim, oldest first'),
  budget: z
    .object({
      scope: z.string(),
      scopeId: z.string().nullable(),
      percentUsed: z.number(),
      remainingUsd: z.string().nullable(),
      remainingTokens: z.int().nullable(),
      warnedAt: z
        .string()
        .nullable()
        .describe('When nine tenths of it were used: what is under way should come to an end'),
      isSpent: z.boolean().describe('Nothing is left: stop, and hand in what there is'),
    })
    .nullable()
    .describe('The budget with the least left; null: none covers the task'),
})
/** One of several leases that were renewed together. */
export const RenewedClaim = z.object({ taskId: Uuid, generation: z.int(), ...RenewAnswer.shape })

const onTask = <R extends string>(reason: R) => z.object({ reason: z.literal(reason), task: BriefTask })
export const StartAnswer = onTask('STARTED')
export const ReleaseAnswer = onTask('RELEASED')
export const AskAnswer = onTask('ASKED')
export const FailAnswer = onTask('FAILED')
/** The answer to progress and to lines in a task's log. */
export const NotedAnswer = onTask('NOTED')
export const ContinueAnswer = onTask('CONTINUING').extend({
  resumeAfterMs: z.int().describe('0: the claim has ended, and the task waits for others'),
})
export const SubmitAnswer = onTask('ACCEPTED').extend({ workProductRef: z.string() })
export const SubmitAndNextAnswer = SubmitAnswer.extend({
  next: ClaimedTask.nullable()
    .optional()
    .describe('Only if requested. Null: no task was claimed; /claims/next says why, and can wait for one'),
})

/** One refused act of several. Its other fields depend on the reason, as those of a problem do. */
export const RefusedAct = z.looseObject({
  reason: z.enum(Object.keys(ERRORS) as ErrorCode[]),
  status: z.int(),
  detail: z.string(),
})
const RefusedItem = RefusedAct.extend({ taskId: Uuid })
export const ClaimBatchAnswer = z.object({
  results: z.array(z.union([ClaimAnswer.extend({ taskId: Uuid }), RefusedItem])),
})
export const RenewBatchAnswer = z.object({
  results: z.array(z.union([RenewAnswer.extend({ taskId: Uuid }), RefusedItem])),
})
export const ResultBatchAnswer = z.object({
  results: z.array(z.union([SubmitAnswer.extend({ taskId: Uuid }), RefusedItem])),
})
export const RetryBatchAnswer = z.object({
  retried: z.int(),
  results: z.array(z.union([onTask('DONE').extend({ taskId: Uuid }), RefusedItem])),
})

/** A generation in a task's lineage. */
export const ClaimHistoryView = z.object({
  generation: z.int(),
  session: z.string(),
  agent: z.string(),
  userId: z.string().nullable().describe('The user of the session'),
  state: z.enum(CLAIM_STATES),
  acquiredAt: z.string(),
  releasedAt: z.string().nullable(),
  releaseReason: z.enum(Object.keys(CLAIM_ENDS) as ClaimEnd[]).nullable(),
  resultAccepted: z.boolean().nullable().describe('Null: no result was submitted, or it is not judged yet'),
  workProductRef: z.string().nullable().describe('Of the accepted result'),
})
