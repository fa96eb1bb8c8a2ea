import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isParsable, JsonStructure } from '../../src/pure/json-structure.ts'
import { objectIn } from '../../src/transcript/json.ts'

/** Values and levels of a JSON text, counted without parsing it. */

function structureOf(text: string, pieceBytes = 1_000): { values: number; depth: number } {
  const bytes = Buffer.from(text)
  const structure = new JsonStructure()
  for (let at = 0; at < bytes.length; at += pieceBytes)
    structure.take(bytes, at, Math.min(at + pieceBytes, bytes.length))
  return { values: structure.values, depth: structure.depth }
}

function counted(value: unknown): { values: number; depth: number } {
  if (value === null || typeof value !== 'object') return { values: 1, depth: 0 }
  const inside = Object.values(value).map(counted)
  return {
    values: 1 + inside.reduce((sum, { values }) => sum + values, 0),
    depth: 1 + Math.max(0, ...inside.map(({ depth }) => depth)),
  }
}

test('are those of the parsed value, however the text is written and cut', () => {
  const written = fc.tuple(
    fc.jsonValue({ maxDepth: 6 }),
    fc.constantFrom(undefined, 1, '\t'),
    fc.integer({ min: 1, max: 9 }),
  )
  fc.assert(
    fc.property(written, ([value, blanks, pieceBytes]) => {
      expect(structureOf(JSON.stringify(value, null, blanks), pieceBytes)).toEqual(counted(value))
    }),
    { numRuns: 500 },
  )
})

describe('a line', () => {
  test.each([
    ['as many values as are allowed', `{"a":[${'1,'.repeat(99_997)}1]}`, true],
    ['one value more', `{"a":[${'1,'.repeat(99_998)}1]}`, false],
    ['200 levels', `{"a":${'['.repeat(199)}${']'.repeat(199)}}`, true],
    ['201 levels', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`, false],
    ['brackets in a text', `{"a":"${'[{,'.repeat(1_000_000)}"}`, true],
    ['characters of several bytes', `{"a":"${'日👩'.repeat(500_000)}"}`, true],
  ])('with %s', (_, text, expected) => {
    expect(isParsable(text)).toBe(expected)
    expect(objectIn(text) !== null).toBe(expected)
  })
})
