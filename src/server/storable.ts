import { endOfString, QUOTE } from './json-text.ts'

/**
 * Values that JSON allows but Postgres cannot store unchanged: NUL, lone surrogates, numbers that overflow. They can only
 * appear as escapes, exponents or long runs of digits, so only bodies with those are walked.
 */
const SUSPICIOUS_ESCAPE = /\\u0000|\\u[dD][89a-fA-F]/
const FEWEST_DIGITS = 309

/** Whether a number outside of strings has an exponent or very many digits. */
function hasLargeNumber(text: string): boolean {
  let digits = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isDigit = code >= 0x30 && code <= 0x39
    if (code === QUOTE) at = endOfString(text, at)
    else if (isDigit ? ++digits === FEWEST_DIGITS : digits > 0 && (code === 0x45 || code === 0x65))
      return true
    if (!isDigit) digits = 0
  }
  return false
}

const isStorable = (text: string) => text.isWellFormed() && !text.includes('\u0000')

const UNFIT = 'contains a NUL or half a surrogate pair, which cannot be stored'

/** A value on the way, and what it is in. */
interface Found {
  value: unknown
  name: string | number
  outer: Found | null
}

/** The first value that cannot be stored, with its path; null when there is none. The text is that of the value. */
export function whyNotStorable(
  text: string,
  root: unknown,
): { path: (string | number)[]; message: string } | null {
  if (!SUSPICIOUS_ESCAPE.test(text) && !hasLargeNumber(text)) return null
  const stack: Found[] = [{ value: root, name: '', outer: null }]
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { value } = next
    if (typeof value === 'string' && !isStorable(value)) return { path: pathTo(next), message: UNFIT }
    if (typeof value === 'number' && !Number.isFinite(value))
      return { path: pathTo(next), message: 'is a number that is too large' }
    if (value === null || typeof value !== 'object') continue
    if (Array.isArray(value)) {
      for (const [place, inner] of value.entries()) stack.push({ value: inner, name: place, outer: next })
      continue
    }
    for (const [name, inner] of Object.entries(value)) {
      if (!isStorable(name)) return { path: pathTo(next), message: UNFIT }
      stack.push({ value: inner, name, outer: next })
    }
  }
  return null
}

function pathTo(found: Found): (string | number)[] {
  const path: (string | number)[] = []
  for (let at = found; at.outer; at = at.outer) path.unshift(at.name)
  return path
}
