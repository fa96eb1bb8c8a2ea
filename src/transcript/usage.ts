import { count, type Json, record } from './json.ts'

/** What each program reports as used. Input is what was sent uncached, in all of them. */

export interface Tokens {
  inputTokens: number
  cachedInputTokens: number
  outputTokens: number
  /** Of the input, where the program reports it. */
  cacheWriteInputTokens?: number
}

/** Only where there is something: most report none. */
export const written = (tokens: number) => (tokens > 0 ? { cacheWriteInputTokens: tokens } : {})

/** `input_tokens` leaves out the cache; what was written to it was sent uncached. */
export const claudeUsage = (usage: Json): Tokens => ({
  inputTokens: count(usage.input_tokens) + count(usage.cache_creation_input_tokens),
  outputTokens: count(usage.output_tokens),
  cachedInputTokens: count(usage.cache_read_input_tokens),
})

/** What the total has beyond input and answer are thinking tokens, billed as output. */
export function geminiUsage(stats: Json): Tokens | null {
  if (!('input_tokens' in stats)) return null
  const [input, answer, cached] = [count(stats.input_tokens), count(stats.output_tokens), count(stats.cached)]
  return {
    inputTokens: Math.max(0, input - cached),
    outputTokens: Math.max(answer, count(stats.total_tokens) - input),
    cachedInputTokens: cached,
  }
}

/** Tokens written to the cache were sent uncached; reasoning tokens are billed as output. */
export function opencodeUsage(tokens: Json): Tokens {
  const cache = record(tokens.cache)
  return {
    inputTokens: count(tokens.input) + count(cache.write),
    outputTokens: count(tokens.output) + count(tokens.reasoning),
    cachedInputTokens: count(cache.read),
    ...written(count(cache.write)),
  }
}
