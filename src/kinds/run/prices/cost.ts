import { addDollars, dollarsOf, picosOf } from '../rules/dollars.ts'
import type { ModelUsage, TokenCounts, TokenUsage } from '../rules/usage.ts'
import { ALIASES, PRICES, type Price, type Rates } from './table.ts'

export type PriceTable = Readonly<Record<string, Price>>

/** Input is uncached input; cached input and what is written to the cache stand beside it. */
export interface PricedTokens {
  input: number
  cachedInput?: number
  cacheWrite?: number
  cacheWrite1h?: number
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

/**
 * The name under which a price is set: that of the list where the list has the model, else the bare one, without provider, context
 * window and date.
 */
export function priceName(model: string): string {
  const names = [...namesOf(model)]
  const listed = names.map((name) => entryOf(ALIASES, name) ?? name).find((name) => entryOf(PRICES, name))
  return listed ?? names.findLast((name) => name !== '') ?? model
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

/** In dollars, exact to the pico-dollar; null when the model has no price. */
export function costOf(model: string, tokens: PricedTokens, table: PriceTable = PRICES): string | null {
  const price = priceOf(model, table)
  return price && dollarsOf(picosFor(price, tokens))
}

/** From how many tokens of input on, exclusive, a request to this model costs more; null: never, as far as is known. */
export const longContextFrom = (model: string, table: PriceTable = PRICES): number | null =>
  priceOf(model, table)?.longContext?.fromTokens ?? null

/**
 * What a run used, at list prices: of each model at its own where the program tells the models, else of `model`. Its input has what
 * was written to the cache, and nothing of what was read from it. Null: a part that has tokens has no price.
 */
export function costOfUsage(
  model: string | null,
  usage: TokenUsage,
  table: PriceTable = PRICES,
): string | null {
  return sumOf(modelsIn(model, usage).map((part) => costOfModel(part, table)))
}

/** The parts that are priced apart. */
export const modelsIn = (model: string | null, usage: TokenUsage): readonly UsedByModel[] =>
  usage.models?.length ? usage.models : [{ ...usage, model }]

/** Null: the program names no model. */
export type UsedByModel = Omit<ModelUsage, 'model'> & { model: string | null }

export function costOfModel(used: UsedByModel, table: PriceTable = PRICES): string | null {
  const tokens = tokensOf(used)
  if (KINDS.every((kind) => tokens[kind] === 0)) return '0'
  const price = used.model === null ? null : priceOf(used.model, table)
  return price && dollarsOf(picosFor(price, tokens, used.longContext && tokensOf(used.longContext)))
}

/** Null if one of them is. */
export const sumOf = (costs: readonly (string | null)[]): string | null =>
  costs.reduce((sum, cost) => (sum === null || cost === null ? null : addDollars(sum, cost)), '0')

const KINDS = ['input', 'cachedInput', 'cacheWrite', 'cacheWrite1h', 'output'] as const
type Tokens = Record<(typeof KINDS)[number], number>

function tokensOf({
  inputTokens,
  outputTokens: output,
  cachedInputTokens: cachedInput = 0,
  cacheWriteInputTokens = 0,
  cacheWrite1hInputTokens = 0,
}: TokenCounts): Tokens {
  const written = Math.min(cacheWriteInputTokens, inputTokens)
  const cacheWrite1h = Math.min(cacheWrite1hInputTokens, written)
  const cacheWrite = written - cacheWrite1h
  return { input: inputTokens - written, cachedInput, cacheWrite, cacheWrite1h, output }
}

/** `long` is the part of the tokens that belongs to requests with a long context. Rounded once, half up. */
export function picosFor(price: Price, tokens: PricedTokens, long: PricedTokens = NONE): bigint {
  const longRates = price.longContext ?? price
  const forMillion = KINDS.reduce((sum, kind) => {
    const all = BigInt(tokens[kind] ?? 0)
    const asked = BigInt(long[kind] ?? 0)
    const inLong = asked < all ? asked : all
    return sum + (all - inLong) * rateOf(price, kind) + inLong * rateOf(longRates, kind)
  }, 0n)
  return (forMillion + 500_000n) / 1_000_000n
}

const NONE: PricedTokens = { input: 0, output: 0 }

/** For a million tokens. */
function rateOf(rates: Rates, kind: keyof Tokens): bigint {
  const { input, cacheWrite, cacheWrite1h } = rates
  if (kind === 'cacheWrite') return picosOf(cacheWrite ?? input)
  if (kind === 'cacheWrite1h') return picosOf(cacheWrite1h ?? cacheWrite ?? input)
  return picosOf(rates[kind])
}
