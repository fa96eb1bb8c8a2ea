import { STATUS_COLORS } from '../kinds/run/rules/status-colors.ts'
import { isObject, type Json } from '../transcript/json.ts'
import type { StatusColor, TokenUsage } from './protocol.ts'

/** Validates the JSON that agents report: no value is trusted because of its name. */

const COUNTERS = [
  ...(['inputTokens', 'outputTokens', 'cachedInputTokens', 'cachedOutputTokens'] as const),
  ...(['cacheWriteInputTokens', 'cacheWrite1hInputTokens', 'reasoningTokens'] as const),
]
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

const MOST_MODELS = 50
const LONGEST_MODEL = 200

/** One usage, or one for each model. Null when invalid: a counter that is not an integer from zero, or neither input nor output. */
export function usageIn(value: unknown): TokenUsage | null {
  if (!Array.isArray(value)) return usageOfOne(value)
  if (value.length === 0 || value.length > MOST_MODELS) return null
  const each = value.map(usageOfOne)
  const models = each.flatMap((one) => one?.models ?? [])
  if (models.length !== each.length) return null
  const told = COUNTERS.filter((counter) => models.some((one) => one[counter] !== undefined))
  const sums = told.map((counter) => [counter, models.reduce((sum, one) => sum + (one[counter] ?? 0), 0)])
  return { inputTokens: 0, outputTokens: 0, ...Object.fromEntries(sums), models }
}

function usageOfOne(value: unknown): TokenUsage | null {
  if (!isObject(value) || (value.inputTokens === undefined && value.outputTokens === undefined)) return null
  const present = COUNTERS.filter((counter) => value[counter] !== undefined)
  if (!present.every((counter) => isCount(value[counter]))) return null
  const counted: TokenUsage = {
    ...{ inputTokens: 0, outputTokens: 0 },
    ...Object.fromEntries(present.map((counter) => [counter, value[counter]])),
  }
  const model = textIn(value.model)?.slice(0, LONGEST_MODEL)
  if (model === undefined) return counted
  const costUsd = dollarsIn(value.costUsd)
  return { ...counted, models: [{ model, ...counted, ...(costUsd !== null && { costUsd }) }] }
}

/** Dollars as exact text. */
export function dollarsIn(value: unknown): string | null {
  if (typeof value === 'string' && /^\d{1,12}(\.\d{1,18})?$/.test(value)) return value
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return null
  const text = String(value)
  return text.includes('e') ? value.toFixed(12) : text
}

export const colorIn = (value: unknown): StatusColor | undefined =>
  STATUS_COLORS.find((color) => color === value)

const LONGEST_SESSION_ID = 500
/** It becomes an environment variable and part of a database row. */
export const sessionIn = (value: unknown): string | null =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these must not occur.
  typeof value === 'string' && value.length <= LONGEST_SESSION_ID && /^[^\x00-\x1f\x7f]+$/.test(value)
    ? value
    : null

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/
/** An ISO time with a time zone, as UTC. */
export function timeIn(value: unknown): string | null {
  const ms = typeof value === 'string' && ISO_TIME.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? null : new Date(ms).toISOString()
}

export const percentIn = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= 100 ? value : undefined

const LONGEST_QUESTION = 4_000
const LONGEST_OPTION = 100
const MOST_OPTIONS = 20

/** A question to a person; null when it is longer than the API would accept. */
export function questionIn({ question, options }: Json): { question: string; options: string[] } | null {
  if (typeof question !== 'string' || question === '' || question.length > LONGEST_QUESTION) return null
  const listed: unknown = options ?? []
  if (!Array.isArray(listed) || listed.length > MOST_OPTIONS) return null
  const isOption = (one: unknown): one is string =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these must not occur.
    typeof one === 'string' && one.length <= LONGEST_OPTION && /^[^\x00-\x1f\x7f]+$/.test(one)
  if (!listed.every(isOption)) return null
  return {
    question: question.toWellFormed(),
    options: [...new Set(listed.map((one) => one.toWellFormed()))],
  }
}

const LONGEST_TEXT = 10_000
export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, LONGEST_TEXT).toWellFormed() : undefined

const MOST_NAMES = 100
const LONGEST_NAME = 100

/** A list of ids or names; null when it is none. */
export const namesIn = (value: unknown): string[] | null =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= MOST_NAMES &&
  value.every((name) => typeof name === 'string' && name !== '' && name.length <= LONGEST_NAME)
    ? (value as string[])
    : null
