import type { StatusColor, TokenUsage } from './protocol.ts'

/** What agents report in JSON of their own making, looked at closely: nothing of it is believed because of its name. */

export type Json = Record<string, unknown>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The object a text is, if it is wholly one. */
export function objectIn(text: string): Json | null {
  if (!text.trimStart().startsWith('{')) return null
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

const COUNTERS = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'cachedOutputTokens'] as const
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** Null when it is none: a counter that is no whole number from zero on, or neither input nor output. */
export function usageIn(value: unknown): TokenUsage | null {
  if (!isObject(value) || (value.inputTokens === undefined && value.outputTokens === undefined)) return null
  const given = COUNTERS.filter((counter) => value[counter] !== undefined)
  if (!given.every((counter) => isCount(value[counter]))) return null
  const counted = Object.fromEntries(given.map((counter) => [counter, value[counter]]))
  return { inputTokens: 0, outputTokens: 0, ...counted }
}

/** Dollars as exact text. */
export function dollarsIn(value: unknown): string | null {
  if (typeof value === 'string' && /^\d{1,12}(\.\d{1,18})?$/.test(value)) return value
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return null
  const text = String(value)
  return text.includes('e') ? value.toFixed(12) : text
}

const COLORS: readonly string[] = ['neutral', 'blue', 'green', 'yellow', 'red'] satisfies StatusColor[]
export const colorIn = (value: unknown): StatusColor | undefined =>
  COLORS.includes(value as string) ? (value as StatusColor) : undefined

const LONGEST_SESSION_ID = 500
/** It becomes a variable of a process and a row of the database. */
export const sessionIn = (value: unknown): string | null =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be in it.
  typeof value === 'string' && value.length <= LONGEST_SESSION_ID && /^[^\x00-\x1f\x7f]+$/.test(value)
    ? value
    : null

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/
/** An ISO time with its zone, as UTC. */
export function timeIn(value: unknown): string | null {
  const ms = typeof value === 'string' && ISO_TIME.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? null : new Date(ms).toISOString()
}

export const percentIn = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= 100 ? value : undefined

const LONGEST_TEXT = 10_000
export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, LONGEST_TEXT).toWellFormed() : undefined
