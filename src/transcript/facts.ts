import type { Step } from '../kinds/run/shapes/transcript.ts'
import type { Json } from './json.ts'
import type { Tokens } from './usage.ts'

/** What a line says, before it has a number and a place. */
export interface Fact extends Partial<Tokens> {
  /** `usage`: what the previous step has used. */
  kind: Step['kind'] | 'usage'
  /** Unless given, the first line of the text. */
  title?: string
  text?: string | null
  tool?: string | null
  isError?: boolean
  /** A call that waits for its result. */
  isOpen?: boolean
  output?: string | null
  callId?: string | null
  /** As the program says; otherwise when the line was written. */
  at?: string | null
  durationMs?: number | null
  costUsd?: string | null
  /** It continues the previous step, if that is of the same kind. */
  isPiece?: boolean
}

/** Reads one line of a program. Null: this is not a line of that form. `notes` is what it remembers, as plain JSON. */
export type LineReader = (line: Json, notes: Json) => Fact[] | null

const LONGEST_TITLE = 200
export const LONGEST_TEXT = 4_000

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals understand them, titles do not
const ESCAPES = /\u001b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)?/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are removed
const CONTROL = /[\u0000-\u001f\u007f]+/g

/** The first line that says something, without colours. */
export function titleOf(text: string): string {
  const start = text.slice(0, 4 * LONGEST_TITLE).trimStart()
  const [line = ''] = start
    .replace(ESCAPES, '')
    .trimStart()
    .split(/[\r\n]/, 1)
  const title = line.replace(CONTROL, ' ').trim()
  return title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE - 1).toWellFormed()}…` : title
}

export const cut = (text: string): string =>
  text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…`.toWellFormed() : text

/** Any value as text: what is text already stays as it is. */
export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : (JSON.stringify(value, null, 2) ?? '')
