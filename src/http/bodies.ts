import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { Refused } from '../core/errors.ts'
import { doubledKey } from './doubled-keys.ts'

/**
 * Values that JSON allows but Postgres cannot store unchanged: NUL, lone surrogates, numbers that overflow. They can only
 * appear as escapes, exponents or long runs of digits, so only bodies with those are walked.
 */
const SUSPICIOUS = /\\u0000|\\u[dD][89a-fA-F]|[0-9][eE]\+?[0-9]{3}|[0-9]{309}/

/** With deeper nesting, Postgres or the engine's JSON writer may run out of stack. */
const DEEPEST = 200

export function installJsonParser(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    // Some clients send a content type without a body. The schema decides whether a body is required.
    if (bytes.length === 0) return done(null, undefined)
    // Decoding would silently replace broken characters and change what the client sent.
    if (!isUtf8(bytes as Buffer))
      return done(new Refused('MALFORMED_JSON', 'The body is not UTF-8.'), undefined)
    const text = bytes.toString()
    parse(request, text, (error, body) => {
      if (error) done(poisonIn(text) ?? error, undefined)
      else done(doubledIn(text, body) ?? whyNotStorable(text, body), body)
    })
  })
}

/** Keys that would change object prototypes. Fastify's parser rejects them but does not name the field. */
function poisonIn(text: string): Refused | null {
  const [, field] = /"(__proto__|constructor)"\s*:/.exec(text) ?? []
  return field === undefined
    ? null
    : Refused.field('VALIDATION_FAILED', field, 'is not a field of any request')
}

function doubledIn(text: string, body: unknown): Refused | null {
  const field = doubledKey(text, body)
  return field === null ? null : Refused.field('VALIDATION_FAILED', field, 'is given twice')
}

function whyNotStorable(text: string, body: unknown): Refused | null {
  const mayBeDeep = text.length > 2 * DEEPEST && countOf(text, '{') + countOf(text, '[') > DEEPEST
  if (!mayBeDeep && !SUSPICIOUS.test(text)) return null
  const found = unstorable(body)
  return found && Refused.field('VALIDATION_FAILED', found.field, found.message)
}

function countOf(text: string, character: string): number {
  let count = 0
  for (let at = text.indexOf(character); at !== -1 && count <= DEEPEST; at = text.indexOf(character, at + 1))
    count++
  return count
}

const isStorable = (text: string) => text.isWellFormed() && !text.includes('\u0000')

/** The first field that cannot be stored, or null. With an explicit stack: bodies may be nested deeply. */
function unstorable(root: unknown): { field: string; message: string } | null {
  const stack: [value: unknown, path: string, depth: number][] = [[root, '', 0]]
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [value, path, depth] = next
    const field = path.length > 200 ? `${path.slice(0, 200)}…` : path || 'body'
    const unfit = { field, message: 'contains a NUL or half a surrogate pair, which cannot be stored' }
    if (typeof value === 'string' && !isStorable(value)) return unfit
    if (typeof value === 'number' && !Number.isFinite(value))
      return { field, message: 'is a number that is too large' }
    if (value === null || typeof value !== 'object') continue
    if (depth > DEEPEST) return { field, message: `is nested deeper than ${DEEPEST} levels` }
    for (const [key, inner] of Object.entries(value)) {
      if (!isStorable(key)) return unfit
      const below = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
      stack.push([inner, below, depth + 1])
    }
  }
  return null
}
