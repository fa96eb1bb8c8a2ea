import { z } from 'zod'
import { agentStateIn, MOST_STATE_BYTES } from '../rules/agent-state.ts'
import { STATUS_COLORS } from '../rules/status-colors.ts'

/** What asynchronous agents (http, 202) send to Baton. */

const Count = z.int().min(0).max(Number.MAX_SAFE_INTEGER)
const OfModel = z.strictObject({
  inputTokens: Count,
  outputTokens: Count,
  cachedInputTokens: Count.optional(),
  cachedOutputTokens: Count.optional(),
  cacheWriteInputTokens: Count.optional(),
  cacheWrite1hInputTokens: Count.optional(),
  reasoningTokens: Count.optional(),
  model: z.string().min(1).max(200).optional(),
  /** Of this model, where it names one. */
  costUsd: z
    .string()
    .regex(/^\d{1,12}(\.\d{1,18})?$/)
    .optional(),
})
/** One usage, or one for each model. */
const Usage = z.union([
  OfModel,
  z
    .array(OfModel.required({ model: true }))
    .min(1)
    .max(50),
])
const Text = z.string().min(1).max(10_000)
const Dollars = z.union([z.number().min(0), z.string().regex(/^\d{1,12}(\.\d{1,18})?$/)])
const SessionId = z.string().min(1).max(500)
/** What the agent keeps for its next run, whatever its task. */
const State = z
  .record(z.string(), z.unknown())
  .refine((state) => agentStateIn(state) !== null, `has more than ${MOST_STATE_BYTES} bytes`)

const Heartbeat = z.strictObject({
  kind: z.literal('heartbeat'),
  progress: z
    .strictObject({ percent: z.number().min(0).max(100).optional(), step: Text.optional() })
    .optional(),
  status: z.strictObject({ message: Text, color: z.enum(STATUS_COLORS).optional() }).optional(),
  /** Its total usage so far. */
  usage: Usage.optional(),
  checkpoint: z.unknown().optional(),
  sessionId: SessionId.optional(),
})

const Result = z.strictObject({
  kind: z.literal('result'),
  result: z.unknown().optional(),
  summary: z.string().max(10_000).nullish(),
  usage: Usage.nullish(),
  continue: z.boolean().optional(),
  sessionId: SessionId.nullish(),
  costUsd: Dollars.nullish(),
  state: State.nullish(),
})

/** An agent reports its own failures, not what Baton did to it. */
const Failure = z.strictObject({
  kind: z.literal('failure'),
  code: z
    .enum([
      ...['nonzero_exit', 'api_error', 'rate_limited', 'refused', 'not_logged_in', 'output_parse_error'],
      'invalid_task',
    ] as const)
    .optional(),
  message: Text,
  /** With rate_limited. */
  retryAt: z.iso.datetime({ offset: true }).nullish(),
  usage: Usage.nullish(),
  state: State.nullish(),
})

export const CallbackMessage = z.discriminatedUnion('kind', [Heartbeat, Result, Failure])
export type CallbackMessage = z.infer<typeof CallbackMessage>
