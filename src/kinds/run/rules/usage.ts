/**
 * What a run uses. Input is always uncached input, with cached input beside it, whatever the convention of the program.
 * Unknown is null, never zero.
 */
export interface TokenUsage {
  inputTokens: number
  outputTokens: number
  cachedInputTokens?: number
  cachedOutputTokens?: number
  /** The part of the input that was written to the cache: it has a price of its own. */
  cacheWriteInputTokens?: number
}

/**
 * Where the figures come from. `reported`: the program reported the usage of this run. `delta`: it reports totals of a
 * session, and the earlier total was subtracted. `partial`: summed up along the way, because the run ended without a report.
 */
export type UsageBasis = 'reported' | 'delta' | 'partial'
