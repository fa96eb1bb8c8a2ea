import { isParsable } from './json-structure.ts'

/** What a model answered: it wraps JSON in words and code fences. */

/** The result of a task, or the text in it: agents on CLIs have their last message as `{"text": "…"}`. */
export function answerIn(result: unknown): unknown {
  const isMessage = typeof result === 'object' && result !== null && Object.keys(result).join() === 'text'
  return isMessage ? (result as { text: unknown }).text : result
}

const FENCE = /```[a-z]*[ \t]*\n([\s\S]*?)```/gi

/** The content of the last code fence; null without one. */
export const lastFenceIn = (text: string): string | null => [...text.matchAll(FENCE)].at(-1)?.[1] ?? null

/** The JSON value in a text: the text itself, its last code fence, or what lies between its outer braces. */
export function jsonIn(text: string): unknown {
  const first = text.indexOf('{')
  const last = text.lastIndexOf('}')
  const candidates = [text, lastFenceIn(text), first < last ? text.slice(first, last + 1) : null]
  for (const candidate of candidates) {
    const value = candidate === null ? undefined : wholeJson(candidate)
    if (value !== undefined) return value
  }
  return undefined
}

/** The value of a text that consists of one JSON object or list, unless it has too many values or is nested too deep. */
export function wholeJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text) || !isParsable(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
