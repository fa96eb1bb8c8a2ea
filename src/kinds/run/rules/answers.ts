import type { ModelUsage, TokenCounts, TokenUsage } from './usage.ts'

/**
 * Sanitizes the output of agents and adapters before it is stored. Adapters may be third-party, and a run that cannot be
 * stored would never end. Invalid parts are dropped; the rest is kept.
 */

/** Postgres accepts no NUL in text, and lone surrogates are not characters. */
export const plainText = (text: string) => text.toWellFormed().replaceAll('\0', '\u{fffd}')

const DEEPEST = 100

/** Any value as JSON that can be stored; undefined when no part of it can be. */
export function plainJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return plainText(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'boolean' || value === null) return value
  if (typeof value !== 'object' || depth > DEEPEST) return undefined
  if (Array.isArray(value)) return value.map((item) => plainJson(item, depth + 1) ?? null)
  const entries = Object.entries(value).map(([name, item]) => [plainText(name), plainJson(item, depth + 1)])
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined))
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** Null when it is no valid token count: unknown is better than wrong. */
export function plainUsage(usage: unknown): TokenUsage | null {
  const counts = plainCounts(usage)
  if (!counts) return null
  const { models } = usage as { models?: unknown }
  if (!Array.isArray(models)) return counts
  const plain = models.slice(0, MOST_MODELS).map(plainModelUsage)
  return plain.every((one) => one !== null) ? { ...counts, models: plain } : counts
}

/** More models in one run are no answer of a program that works. */
const MOST_MODELS = 50

function plainCounts(usage: unknown): TokenCounts | null {
  const said = (usage ?? {}) as Partial<TokenCounts>
  const { inputTokens, outputTokens } = said
  if (!isCount(inputTokens) || !isCount(outputTokens)) return null
  const optional = OPTIONAL_COUNTS.flatMap((name) => (isCount(said[name]) ? [[name, said[name]]] : []))
  return { inputTokens, outputTokens, ...Object.fromEntries(optional) }
}

const OPTIONAL_COUNTS = [
  'cachedInputTokens',
  'cachedOutputTokens',
  'cacheWriteInputTokens',
  'cacheWrite1hInputTokens',
  'reasoningTokens',
] as const satisfies readonly (keyof TokenCounts)[]

function plainModelUsage(usage: unknown): ModelUsage | null {
  const counts = plainCounts(usage)
  const { model, costUsd, longContext } = (usage ?? {}) as Partial<ModelUsage>
  if (!counts || typeof model !== 'string' || model === '') return null
  const [cost, long] = [plainDollars(costUsd), plainCounts(longContext)]
  return {
    ...counts,
    model: plainTextOrNull(model, 200)!,
    ...(cost !== null && { costUsd: cost }),
    ...(long && { longContext: long }),
  }
}

/** Null when it is no question that could be shown to a person. */
export function plainQuestion(asked: unknown): { question: string; options: string[] } | null {
  const { question, options = [] } = (asked ?? {}) as { question?: unknown; options?: unknown }
  if (typeof question !== 'string' || question === '' || !Array.isArray(options)) return null
  const texts = options.filter((one): one is string => typeof one === 'string' && one !== '')
  return { question: plainText(question), options: texts.map(plainText) }
}

/** Null when it is no list of names. */
export function plainNames(value: unknown): string[] | null {
  if (!Array.isArray(value) || value.length === 0) return null
  const texts = value.filter((one): one is string => typeof one === 'string' && one !== '')
  return texts.length === value.length ? texts.map(plainText) : null
}

const MOST_DOLLARS = 1e12

/** Decimal dollars as text; null when it is not an amount. */
export function plainDollars(cost: unknown): string | null {
  const isAmount =
    typeof cost === 'number' || (typeof cost === 'string' && /^\d{1,12}(\.\d{1,30})?$/.test(cost))
  const amount = isAmount ? Number(cost) : Number.NaN
  return amount >= 0 && amount <= MOST_DOLLARS ? String(cost) : null
}

const MOST_INTEGER = 2 ** 31 - 1
export const plainInteger = (value: unknown): number | null =>
  Number.isInteger(value) && Math.abs(value as number) <= MOST_INTEGER ? (value as number) : null

/** Null when it is not text. */
export const plainTextOrNull = (value: unknown, longest: number): string | null =>
  typeof value === 'string' ? plainText(value.slice(0, longest)) : null
