import { z } from 'zod'
import { commonSettings, configOf } from './config.ts'
import { Deadline } from './deadline.ts'
import { type AgentRunAdapter, PROTOCOL_VERSION } from './protocol.ts'
import { Play } from './simulated-play.ts'
import { PlayStep } from './simulated-steps.ts'

/**
 * Agents that follow a script, for demonstrations and tests: no model and no process. The same settings and the same attempt
 * at the same task always give the same run.
 */

const config = configOf(
  'simulated',
  z.strictObject({
    ...commonSettings,
    steps: z.array(PlayStep).max(10_000),
    /** How many times the steps are repeated. */
    repeat: z.int().min(1).max(100_000).default(1),
    seed: z.union([z.int(), z.string().max(200)]).default(0),
    /** What each run costs. Without it the cost is unknown. */
    costUsd: z
      .string()
      .regex(/^\d{1,12}(\.\d{1,18})?$/, 'is no amount such as 0.31')
      .optional(),
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
    const { steps, repeat } = read.settings
    const deadline = new Deadline(signal, input.timeoutSec * 1_000)
    return new Play(input, hooks, deadline, read.settings).all(steps, repeat).finally(() => deadline.close())
  },
}
