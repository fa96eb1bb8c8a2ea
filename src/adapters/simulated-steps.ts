import { z } from 'zod'
import { runErrorCodes } from '../kinds/run/rules/outcomes.ts'
import { STATUS_COLORS } from '../kinds/run/rules/status-colors.ts'

const Count = z.int().min(0).max(Number.MAX_SAFE_INTEGER)
const Text = z.string().max(10_000)
const WaitMs = z.int().min(0).max(86_400_000)
/** Any step may be random; the seed decides when it happens. Or it is only for one attempt at the task, the first being 1. */
const sometimes = {
  chance: z.number().min(0).max(1).optional(),
  attempt: z.int().min(1).max(1_000).optional(),
}

/** One step of a simulated agent's script. */
export const PlayStep = z.union([
  z.strictObject({ ...sometimes, say: z.string().max(100_000) }),
  z.strictObject({
    ...sometimes,
    status: Text.min(1),
    color: z.enum(STATUS_COLORS).optional(),
  }),
  z.strictObject({ ...sometimes, progress: z.number().min(0).max(100), step: Text.optional() }),
  /** Usage since the previous step: steps add up. */
  z.strictObject({
    ...sometimes,
    usage: z.strictObject({ inputTokens: Count, outputTokens: Count, cachedInputTokens: Count.optional() }),
  }),
  z.strictObject({ ...sometimes, checkpoint: z.json() }),
  z.strictObject({ ...sometimes, call: Text.min(1), isError: z.boolean().optional() }),
  /** A fixed time, or a range from which it is drawn. */
  z.strictObject({ ...sometimes, waitMs: z.union([WaitMs, z.tuple([WaitMs, WaitMs])]) }),
  z.strictObject({
    ...sometimes,
    fail: z.strictObject({
      code: z.enum(runErrorCodes as [(typeof runErrorCodes)[number]]),
      message: Text.optional(),
      /** With rate_limited: when to retry. */
      retryAfterMs: WaitMs.optional(),
    }),
  }),
  z.strictObject({ ...sometimes, result: z.json(), summary: Text.optional() }),
  /** The run ends here with a question to a person. Once it was answered, the script goes past this step. */
  z.strictObject({
    ...sometimes,
    ask: Text.min(1).max(2_000),
    options: z.array(Text.min(1).max(200)).max(20).optional(),
  }),
  /** The run ends here and wants to continue, at most `times` times; after that the script goes past this step. */
  z.strictObject({ ...sometimes, wantsMore: z.literal(true), times: Count.optional() }),
])
export type PlayStep = z.infer<typeof PlayStep>
