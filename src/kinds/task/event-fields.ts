import { z } from 'zod'
import { text } from '../../pure/event.ts'

/** Fields that several types of task events share. */

/** The holder of the claim. */
export const held = { agent: text, session: text }
/** The holder as it claimed. Agents that Baton runs, and others that name it, have a model; `metadata` is what the holder says about itself. */
export const claimed = {
  ...held,
  agentType: text.optional(),
  model: text.nullable().optional(),
  metadata: z.unknown().optional(),
}
/**
 * The agent whose claim a move ended. `attempt`: attempts spent by now, if the move changed that; `attemptsSpent`: where `attempt` is
 * the one that failed, and did not count.
 */
export const afterClaim = {
  agent: text.optional(),
  attempt: z.int().optional(),
  attemptsSpent: z.int().optional(),
}

/** What the run that led to this used. Only agents that Baton runs have it. */
export const spentByRun = {
  runId: text.optional(),
  model: text.nullable().optional(),
  tokens: z.int().optional(),
  costUsd: text.nullable().optional(),
  exitCode: z.int().nullable().optional(),
  /** The error code of the run, if it failed. */
  errorType: text.optional(),
}
export const submitted = { summaryLength: z.int().optional(), ...spentByRun }

export const judged = {
  verifier: text.optional(),
  score: z.number().nullable().optional(),
  verification: text.nullable().optional(),
}

/** A failure: the retries left by now; `durationMs`: how long the claim was held, if this ended one. */
export const lasted = { retriesRemaining: z.int().optional(), durationMs: z.int().optional() }
/** A move to awaiting_retry: when it is tried again. */
export const retried = { retryAt: z.number().optional(), ...lasted }
export const failure = {
  failureClass: text.optional(),
  error: text.nullable().optional(),
  attempt: z.int(),
  stack: text.optional(),
}
/** A lost claim. `errorType`: what became of its holder, also where that was the last attempt. */
export const lost = { ...held, ...retried, errorType: text.optional(), attempt: z.int() }
