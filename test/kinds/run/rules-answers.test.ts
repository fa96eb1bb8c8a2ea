import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  plainDollars,
  plainInteger,
  plainJson,
  plainText,
  plainUsage,
} from '../../../src/kinds/run/rules/answers.ts'

describe('an adapter’s answer is made storable', () => {
  test('a text has no NUL and no half of a character in it', () => {
    expect(plainText('a\0b\ud83d')).toBe('a\u{fffd}b\u{fffd}')
    expect(plainText('grüß 🎉')).toBe('grüß 🎉')
  })

  test('of any value, the rest is JSON that reads back the same', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true }), (value) => {
        const plain = plainJson(value)
        if (plain === undefined) return
        const text = JSON.stringify(plain)
        expect(text).not.toContain('\\u0000')
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(JSON.parse(text))))
      }),
    )
  })

  test('valid JSON stays unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!JSON.stringify(value).includes('\\u') && !JSON.stringify(value).includes('__proto__'))
        // As text: JSON has no negative zero.
        expect(JSON.stringify(plainJson(value))).toBe(JSON.stringify(value))
      }),
    )
  })

  test('an endlessly nested list is cut', () => {
    const cycle: unknown[] = []
    cycle.push(cycle)
    expect(() => JSON.stringify(plainJson(cycle))).not.toThrow()
  })

  test.each([
    [
      { inputTokens: 1, outputTokens: 2 },
      { inputTokens: 1, outputTokens: 2 },
    ],
    [
      { inputTokens: 1, outputTokens: 2, cachedInputTokens: -1 },
      { inputTokens: 1, outputTokens: 2 },
    ],
    [{ inputTokens: 1.5, outputTokens: 2 }, null],
    [{ inputTokens: Number.NaN, outputTokens: 2 }, null],
    [{ outputTokens: 2 }, null],
    ['many', null],
    [null, null],
    [undefined, null],
  ])('usage %j counts as %j', (said, kept) => expect(plainUsage(said)).toEqual(kept))

  test.each([
    [0.000548, '0.000548'],
    ['0.1', '0.1'],
    [-1, null],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, null],
    ['1e400', null],
    ['much', null],
    [null, null],
    [undefined, null],
  ])('the cost %j counts as %j', (said, kept) => expect(plainDollars(said)).toBe(kept))

  test.each([
    [0, 0],
    [143, 143],
    [1.5, null],
    ['1', null],
    [2 ** 40, null],
  ])('the exit code %j counts as %j', (said, kept) => expect(plainInteger(said)).toBe(kept))
})
