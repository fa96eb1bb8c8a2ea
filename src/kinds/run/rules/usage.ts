/**
 * What a run uses. Input is always uncached input, with cached input beside it, whatever the convention of the program.
 * Unknown is null, never zero.
 */
export interface TokenUsage extends TokenCounts {
  /** The same by model, where the program tells it. The parts add up to the total. */
  models?: readonly ModelUsage[]
}

export interface TokenCounts {
  inputTokens: number
  outputTokens: number
  cachedInputTokens?: number
  cachedOutputTokens?: number
  /** The part of the input that was written to the cache: it has a price of its own. */
  cacheWriteInputTokens?: number
  /** The part of `cacheWriteInputTokens` that the cache keeps for an hour instead of five minutes: it costs more. */
  cacheWrite1hInputTokens?: number
  /** The part of the output that was reasoning, where the program tells it. */
  reasoningTokens?: number
}

export interface ModelUsage extends TokenCounts {
  model: string
  /** What the program says that it cost: exact decimal dollars. */
  costUsd?: string
  /** The part of the counts that belongs to requests above the limit from which the model has a higher price. */
  longContext?: TokenCounts
}

/**
 * Where the figures come from. `reported`: the program reported the usage of this run. `delta`: it reports totals of a
 * session, and the earlier total was subtracted. `partial`: summed up along the way, because the run ended without a report.
 */
export type UsageBasis = 'reported' | 'delta' | 'partial'
