import { count, type Json, record } from './json.ts'

/** What each program reports as used. Input is what was sent uncached, in all of them. */

export interface Tokens {
  inputTokens: number
  cachedInputTokens: number
  outputTokens: number
  /** Of the input, where the program reports it. */
  cacheWriteInputTokens?: number
  /** Of what was written to the cache, what it keeps for an hour. */
  cacheWrite1hInputTokens?: number
  /** Of the output, where the program reports it. */
  reasoningTokens?: number
}

/** Only where there is something: most report none. */
const written = (tokens: number, forAnHour = 0) => ({
  ...(tokens > 0 && { cacheWriteInputTokens: tokens }),
  ...(tokens > 0 && forAnHour > 0 && { cacheWrite1hInputTokens: forAnHour }),
})

/** Only where it is told: unknown is not zero. */
const reasoned = (tokens: unknown) => (typeof tokens === 'number' ? { reasoningTokens: count(tokens) } : {})

/** `input_tokens` leaves out the cache; what was written to it was sent uncached. */
export const claudeUsage = (usage: Json): Tokens => ({
  inputTokens: count(usage.input_tokens) + count(usage.cache_creation_input_tokens),
  outputTokens: count(usage.output_tokens),
  cachedInputTokens: count(usage.cache_read_input_tokens),
  ...written(
    count(usage.cache_creation_input_tokens),
    count(record(usage.cache_creation).ephemeral_1h_input_tokens),
  ),
  ...reasoned(record(usage.output_tokens_details).thinking_tokens),
})

/** The same of a model, as `modelUsage` has it. */
export const claudeModelUsage = (usage: Json): Tokens => ({
  inputTokens: count(usage.inputTokens) + count(usage.cacheCreationInputTokens),
  outputTokens: count(usage.outputTokens),
  cachedInputTokens: count(usage.cacheReadInputTokens),
  ...written(count(usage.cacheCreationInputTokens), count(usage.cacheCreationEphemeral1hInputTokens)),
  ...reasoned(usage.thinkingTokens),
})

/** Of an answer, or of several. Its input includes what was read from the cache and what was written to it. */
export function codexUsage(usage: Json): Tokens {
  const [input, cached] = [count(usage.input_tokens), count(usage.cached_input_tokens)]
  const cacheWrite = count(usage.cache_write_input_tokens)
  return {
    // What was written to the cache was sent uncached, as for claude. It is part of the input, so it is not added to it.
    inputTokens: Math.max(0, cacheWrite, input - cached),
    outputTokens: count(usage.output_tokens),
    cachedInputTokens: cached,
    ...written(cacheWrite),
    ...reasoned(usage.reasoning_output_tokens),
  }
}

/** What the total has beyond input and answer are thinking tokens, billed as output. */
export function geminiUsage(stats: Json): Tokens | null {
  if (!('input_tokens' in stats)) return null
  const [input, answer, cached] = [count(stats.input_tokens), count(stats.output_tokens), count(stats.cached)]
  const output = Math.max(answer, count(stats.total_tokens) - input)
  return {
    inputTokens: Math.max(0, input - cached),
    outputTokens: output,
    cachedInputTokens: cached,
    ...(count(stats.total_tokens) > 0 && { reasoningTokens: output - answer }),
  }
}

/** Of one answer, as its chat file has it: here the thoughts have a name. */
export function geminiAnswerUsage(tokens: Json): Tokens {
  const [input, cached, thoughts] = [count(tokens.input), count(tokens.cached), count(tokens.thoughts)]
  return {
    inputTokens: Math.max(0, input - cached),
    outputTokens: Math.max(count(tokens.output) + thoughts, count(tokens.total) - input),
    cachedInputTokens: cached,
    ...reasoned(tokens.thoughts),
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
    ...reasoned(tokens.reasoning),
  }
}
