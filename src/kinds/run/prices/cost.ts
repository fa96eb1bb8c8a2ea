import { dollarsOf, nanosOf } from '../rules/dollars.ts'
import type { TokenUsage } from '../rules/usage.ts'
import { ALIASES, PRICES, type Price } from './table.ts'

export type PriceTable = Readonly<Record<string, Price>>

/** Input is uncached input; cached input and what is written to the cache stand beside it. */
export interface PricedTokens {
  input: number
  cachedInput?: number
  cacheWrite?: number
  output: number
}

/**
 * The price of a model, whatever a CLI calls it: `claude-opus-5[1m]`, `anthropic/claude-opus-5-5`, `gpt-5-2026-04-01`,
 * `opus`. Null for a model without one: a price that is merely similar would be a wrong one.
 */
export function priceOf(model: string, table: PriceTable = PRICES): Price | null {
  for (const name of namesOf(model)) {
    const found = entryOf(table, name) ?? entryOf(table, entryOf(ALIASES, name) ?? '')
    if (found) return found
  }
  return null
}

const entryOf = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

/** As it is, then without what surrounds the name: provider, context window, date. */
function* namesOf(model: string): Generator<string> {
  const whole = model.trim().toLowerCase()
  yield whole
  const bare = whole.slice(whole.lastIndexOf('/') + 1).replace(/\[[^\]]*\]$/, '')
  yield bare
  // Bedrock: us.anthropic.claude-opus-4-5-20251101-v1:0. Vertex: claude-opus-4-5@20251101.
  const ofProvider = bare.replace(/^(?:[a-z]+\.)?anthropic\./, '').replace(/-v\d+(?::\d+)?$/, '')
  yield ofProvider
  yield ofProvider.replace(/[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, '')
}

/** In dollars, exact to the nano-dollar; null when the model has no price. */
export function costOf(model: string, tokens: PricedTokens, table: PriceTable = PRICES): string | null {
  const price = priceOf(model, table)
  return price && dollarsOf(nanosFor(price, tokens))
}

/** What a run used, at list prices. Its input has what was written to the cache, and nothing of what was read from it. */
export function costOfUsage(
  model: string | null,
  {
    inputTokens,
    outputTokens: output,
    cachedInputTokens: cachedInput = 0,
    cacheWriteInputTokens = 0,
  }: TokenUsage,
  table: PriceTable = PRICES,
): string | null {
  if (model === null) return null
  const cacheWrite = Math.min(cacheWriteInputTokens, inputTokens)
  return costOf(model, { input: inputTokens - cacheWrite, cachedInput, cacheWrite, output }, table)
}

/** Rounded once, half up. */
export function nanosFor(price: Price, tokens: PricedTokens): bigint {
  const { input, cachedInput = 0, cacheWrite = 0, output } = tokens
  const forMillion =
    BigInt(input) * nanosOf(price.input) +
    BigInt(cachedInput) * nanosOf(price.cachedInput) +
    BigInt(cacheWrite) * nanosOf(price.cacheWrite ?? price.input) +
    BigInt(output) * nanosOf(price.output)
  return (forMillion + 500_000n) / 1_000_000n
}
