/**
 * What runs use up. Input is uncached input everywhere; cached input stands beside it, whatever a program's own convention
 * is. Unknown is null, never zero.
 */
export interface TokenUsage {
  inputTokens: number
  outputTokens: number
  cachedInputTokens?: number
  cachedOutputTokens?: number
}

/**
 * How figures were come by. `reported`: the program said what this run took. `delta`: it counts over a whole session, and what
 * was known before was taken off. `partial`: summed up on the way, since the run ended before its program could say.
 */
export type UsageBasis = 'reported' | 'delta' | 'partial'
