import { z } from 'zod'

/** Fields that several types of events have in their payloads. */

export const text = z.string()
export const held = { agent: text, session: text }
export const fence = { command: text, code: text, givenGeneration: z.int(), givenSession: text }
export const woken = {
  agent: text,
  wakeupId: text,
  source: text,
  reason: text.nullable(),
  taskId: text.nullable(),
}
/** All but the agent are of contractors alone. */
export const ofAgent = {
  agent: text,
  kind: text.optional(),
  template: text.optional(),
  missionId: text.optional(),
}
export const run = { runId: text, agent: text, taskId: text.nullable() }
export const runEnd = {
  status: text,
  errorCode: text.nullable(),
  exitCode: z.int().nullable(),
  inputTokens: z.int().nullable(),
  cachedInputTokens: z.int().nullable(),
  outputTokens: z.int().nullable(),
  costUsd: text.nullable(),
  logTruncated: z.boolean(),
  /** Since it began; null: it did not. */
  durationMs: z.int().nullable().optional(),
  model: text.nullable().optional(),
  provider: text.nullable().optional(),
}
export const mission = { missionId: text }
export const routine = { routineId: text }
/** Of a plan by an agent; null: nobody is named for it, or the model is not known. */
export const planner = { plannerModel: text.nullable().optional() }
export const planned = {
  version: z.int(),
  digest: text,
  taskCount: z.int(),
  strategy: text.nullable(),
  estimatedTokens: z.int(),
  estimatedUsd: text.nullable(),
  ...planner,
}
/** Null: the cost of no run is known. The runs have ended; `unknownRuns` of them have no known cost. */
const costOfRuns = {
  totalCost: text.nullable(),
  runs: z.int().optional(),
  unknownRuns: z.int().optional(),
}
export const spent = { ...costOfRuns, totalTokens: z.int(), budget: z.unknown() }
export const ended = {
  totalTokens: z.int(),
  ...costOfRuns,
  durationMs: z.int().nullable(),
  tasksCompleted: z.int(),
  tasksFailed: z.int(),
  reason: text.optional(),
}
export const judged = {
  verifier: text.optional(),
  score: z.number().nullable().optional(),
  verification: text.nullable().optional(),
}
/** Who judges; the model is null, or missing, where it is not known. */
export const judging = {
  verifier: text,
  model: text.nullable().optional(),
  verification: text,
  attempt: z.int(),
}
/** What the run of an agent used that led to this. Only agents that Baton runs have it. */
export const spentByRun = {
  runId: text.optional(),
  model: text.nullable().optional(),
  tokens: z.int().optional(),
  costUsd: text.nullable().optional(),
  exitCode: z.int().nullable().optional(),
  /** Why it failed: the error code of the run. */
  errorType: text.optional(),
}
export const failure = {
  failureClass: text.optional(),
  error: text.nullable().optional(),
  attempt: z.int(),
  stack: text.optional(),
}

/** Of agents that Baton runs, and of others that name their model: who claimed. And what the holder says about itself. */
export const claimed = {
  ...held,
  agentType: text.optional(),
  model: text.nullable().optional(),
  metadata: z.unknown().optional(),
}
/** Of a rejected result of a real holder: whose, and the time since it claimed. */
export const lostWork = { agent: text.optional(), processingMs: z.int().optional() }

export const submitted = { summaryLength: z.int().optional(), ...spentByRun }

/**
 * Of a move that ended a claim: whose. And how many attempts are spent by now, if the move changed that; `attemptsSpent`: where
 * `attempt` is the one that failed, and did not count.
 */
export const afterClaim = {
  agent: text.optional(),
  attempt: z.int().optional(),
  attemptsSpent: z.int().optional(),
}
/** Of a failure: how many retries are left by now; and if it ended a claim, how long that was held. */
export const lasted = { retriesRemaining: z.int().optional(), durationMs: z.int().optional() }
/** Of a move to awaiting_retry: when it is tried again. */
export const retried = { retryAt: z.number().optional(), ...lasted }
/** Of a claim that was lost: what became of its holder, also where that was the last attempt. */
export const crashed = { errorType: text.optional() }
/** All runs of the task together, after this one; null where it is not known. Without a task, nothing. */
export const spentOnTask = { taskTokens: z.int().optional(), taskCostUsd: text.nullable().optional() }
