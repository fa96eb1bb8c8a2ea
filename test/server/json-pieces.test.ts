import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GivenTwice, parsedInPieces } from '../../src/server/json-pieces.ts'
import { rounds } from '../support/rounds.ts'

/** JSON that is parsed in pieces, here in very short ones. */

function parsed(
  text: string,
  length: number,
  parse: (piece: string) => unknown = (piece) => JSON.parse(piece),
) {
  const pieces = parsedInPieces(text, parse, length)
  for (let next = pieces.next(); ; next = pieces.next()) if (next.done) return next.value
}

const outcome = (act: () => unknown) => {
  try {
    return { value: act() }
  } catch {
    return 'malformed'
  }
}

const value = fc.jsonValue({ maxDepth: 5, noUnicodeString: false } as never)
const written = fc
  .tuple(value, fc.constantFrom(undefined, 1, '\t\r\n'))
  .map(([one, blanks]) => JSON.stringify(one, null, blanks)!)
  .filter((text) => !text.includes('__proto__'))

test('is the same value, wherever the pieces end', () => {
  fc.assert(
    fc.property(written, fc.integer({ min: 1, max: 40 }), (text, length) => {
      const whole = JSON.parse(text)
      const inPieces = parsed(text, length)
      expect(inPieces).toEqual(whole)
      expect(JSON.stringify(inPieces)).toBe(JSON.stringify(whole))
    }),
    { numRuns: rounds(300, 2_000) },
  )
})

test('whatever is no JSON is refused, and nothing else', () => {
  const broken = fc
    .tuple(
      written,
      fc.nat(),
      fc.nat(3),
      fc.constantFrom('', ',', '[', ']', '{', '}', ':', '"', '1', ' ', '\\', 'x'),
    )
    .map(([text, at, length, instead]) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + instead + text.slice(place + length)
    })
    .filter((text) => !text.includes('__proto__'))
  fc.assert(
    fc.property(broken, fc.integer({ min: 1, max: 20 }), (text, length) => {
      try {
        expect(outcome(() => parsed(text, length))).toEqual(outcome(() => JSON.parse(text)))
      } catch (error) {
        // JSON.parse takes the last of two equal names; here that is refused.
        expect(() => parsed(text, length)).toThrow(GivenTwice)
        if (!(error instanceof Error)) throw error
      }
    }),
    { numRuns: rounds(500, 5_000) },
  )
})

describe('is refused', () => {
  test.each([
    '[1,2,3,]',
    '[,1,2,3]',
    '[1,2,,3]',
    '[[1,2,3] [4,5,6]]',
    '[[1,2,3] 4,5,6]',
    '[[1,2,3]',
    '[1,2,3]]',
    '[1,2,3] x',
    '{"a":[1,2,3] "b":1}',
    '{"a":[1,2,3],}',
    '{"a" [1,2,3]}',
    '{[1,2,3]}',
    '{"a":"b":[1,2,3]}',
    '[1,2,{"a":1]}',
    '["abc]',
    '{"a":1,"b"}',
  ])('%s', (text) => {
    for (let length = 1; length < 8; length++) expect(() => parsed(text, length)).toThrow()
  })
})

test('a name given twice is found across pieces, with its path', () => {
  const text = '{"a":[0,{"b":{"name":1,"other":2,"more":3,"name":4}}]}'
  for (const length of [1, 5, 10])
    expect(() => parsed(text, length)).toThrow(expect.objectContaining({ path: ['a', 1, 'b', 'name'] }))
})

test('each piece knows where it is', () => {
  const seen: unknown[] = []
  const pieces = parsedInPieces(
    '{"tasks":[{"a":1},{"b":2},{"c":3}]}',
    (piece, at) => {
      seen.push([piece, at.within, at.first])
      return JSON.parse(piece)
    },
    9,
  )
  while (!pieces.next().done);
  expect(seen).toContainEqual(['[{"b":2}]', ['tasks'], 1])
})
