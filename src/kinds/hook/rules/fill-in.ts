import { valueAt } from '../../../pure/json-pointer.ts'
import { asMaterial, hasMaterial, withMeaning } from '../../../pure/material.ts'

/** Texts of a hook with what the payload has in the places that they name. */

/** Bounded, so that no text takes long to look through. */
const PLACEHOLDER = /\{\{ {0,3}(\/[^{}\n]{0,500}?) {0,3}\}\}/g

export class Missing extends Error {
  override name = 'Missing'
  constructor(pointer: string) {
    super(`The payload has nothing at ${pointer}.`)
  }
}

/** Numbers and truth values say nothing but themselves; all else is material. */
function shown(value: unknown, pointer: string, most: number): string {
  if (value === undefined || value === null) throw new Missing(pointer)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return asMaterial(text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text)
}

const filledIn = (text: string, payload: unknown, most: number): string =>
  text.replace(PLACEHOLDER, (_whole, pointer: string) => shown(valueAt(payload, pointer), pointer, most))

const LONGEST_IN_TITLE = 120
const LONGEST_IN_TEXT = 10_000

// biome-ignore lint/suspicious/noControlCharactersInRegex: keeping them out is the point
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]+/g

/** One line. What its brackets mean is said in the text beside it. */
export const titleWith = (text: string, payload: unknown, longest: number): string =>
  filledIn(text, payload, LONGEST_IN_TITLE)
    .replace(CONTROL_CHARACTERS, ' ')
    .trim()
    .slice(0, longest)
    .toWellFormed()

/** A text, and what its brackets mean. There is always room for that. */
export function textWith(text: string, payload: unknown, longest: number): string {
  const filled = filledIn(text, payload, LONGEST_IN_TEXT)
  const room = longest - withMeaning('').length - 2
  if (!hasMaterial(filled)) return filled.slice(0, room).toWellFormed()
  return withMeaning(filled.length > room ? filled.slice(0, room).toWellFormed() : filled)
}
