import { count, type Json, record } from '../../transcript/json.ts'

/** Counters of codex over a whole thread. Its input includes what was read from the cache and what was written to it. */
export interface Counters {
  input: number
  cached: number
  written: number
  output: number
  /** Of the output; null: not told. */
  reasoning: number | null
}

export const ZERO: Counters = { input: 0, cached: 0, written: 0, output: 0, reasoning: 0 }

export const countersIn = (usage: Json): Counters => ({
  input: count(usage.input_tokens),
  cached: count(usage.cached_input_tokens),
  written: count(usage.cache_write_input_tokens),
  output: count(usage.output_tokens),
  reasoning: usage.reasoning_output_tokens === undefined ? null : count(usage.reasoning_output_tokens),
})

/** As an earlier run kept them. */
export function keptCounters(state: unknown): (Counters & { sessionId: string }) | null {
  const { sessionId, input, cached, written, output, reasoning } = record(state)
  if (typeof sessionId !== 'string') return null
  const [sent, read] = [count(input), count(cached)]
  const kept = { input: sent, cached: read, written: count(written), output: count(output) }
  return { sessionId, ...kept, reasoning: typeof reasoning === 'number' ? count(reasoning) : null }
}

/** Counters never fall: those that are lower have begun again. */
export const hasGoneOn = (now: Counters, before: Counters): boolean =>
  now.input >= before.input && now.cached >= before.cached && now.output >= before.output

/** What was counted since, in the form of codex. */
export const countedSince = (now: Counters, before: Counters): Json => ({
  input_tokens: now.input - before.input,
  cached_input_tokens: now.cached - before.cached,
  cache_write_input_tokens: Math.max(0, now.written - before.written),
  output_tokens: now.output - before.output,
  ...(now.reasoning !== null &&
    before.reasoning !== null && { reasoning_output_tokens: Math.max(0, now.reasoning - before.reasoning) }),
})
