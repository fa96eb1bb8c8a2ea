import { z } from 'zod'
import { runErrorCodes } from '../core/runs/outcomes.ts'
import { commonSettings, configOf } from './config.ts'
import { Deadline } from './deadline.ts'
import { type AgentRunAdapter, PROTOCOL_VERSION } from './protocol.ts'
import { Play } from './simulated-play.ts'

/**
 * Agents that follow a script, for demonstrations and tests: no model and no process. The same settings and the same attempt
 * at the same task always give the same run.
 */

const Count = z.int().min(0).max(Number.MAX_SAFE_INTEGER)
const Text = z.string().max(10_000)
const WaitMs = z.int().min(0).max(86_400_000)
/** Any step may be random; the seed decides when it happens. */
const sometimes = { chance: z.number().min(0).max(1).optional() }

const PlayStep = z.union([
  z.strictObject({ ...sometimes, say: z.string().max(100_000) }),
  z.strictObject({
    ...sometimes,
    status: Text.min(1),
    color: z.enum(['neutral', 'blue', 'green', 'yellow', 'red']).optional(),
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
  /** The run ends here and wants to continue, at most `times` times; after that the script goes past this step. */
  z.strictObject({ ...sometimes, wantsMore: z.literal(true), times: Count.optional() }),
])
export type PlayStep = z.infer<typeof PlayStep>

const config = configOf(
  'simulated',
  z.strictObject({
    ...commonSettings,
    steps: z.array(PlayStep).max(10_000),
    /** How many times the steps are repeated. */
    repeat: z.int().min(1).max(100_000).default(1),
    seed: z.union([z.int(), z.string().max(200)]).default(0),
  }),
)

export const simulatedAdapter: AgentRunAdapter = {
  type: 'simulated',
  protocolVersion: PROTOCOL_VERSION,
  usesFolder: false,
  capabilities: { resumableSession: true, statusUpdates: true, logStreaming: true, tokenUsage: true },
  configSchema: config.schema,
  validateConfig: config.validate,
  async invoke(input, hooks, signal) {
    const read = config.read(input.adapterConfig)
    if (!read.ok) return read.result
    const { steps, repeat, seed } = read.settings
    const deadline = new Deadline(signal, input.timeoutSec * 1_000)
    return new Play(input, hooks, deadline, seed).all(steps, repeat).finally(() => deadline.close())
  },
}
