import { isParsable } from '../pure/json-structure.ts'

/** Reads the JSON that programs print: no value is trusted because of its name. */

export type Json = Record<string, unknown>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value of a text that consists of one JSON object, unless it has too many values or is nested too deep. */
export function objectIn(text: string): Json | null {
  if (!/^\s*\{/.test(text) || !isParsable(text)) return null
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

export const record = (value: unknown): Json => (isObject(value) ? value : {})
export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const text = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value.toWellFormed() : null

/** Token counts are integers from zero; anything else counts as zero. */
export const count = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0

/** ISO time from seconds or milliseconds since the epoch. */
export function timeOf(epoch: unknown): string | null {
  if (typeof epoch !== 'number' || !Number.isFinite(epoch) || epoch <= 0) return null
  const time = new Date(epoch > 100_000_000_000 ? epoch : epoch * 1_000)
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}
