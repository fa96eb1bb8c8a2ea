import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LONGEST_LINE, Sieve } from '../../src/adapters/child/lines.ts'
import { rounds } from '../support/rounds.ts'

const isLeftOut = (line: string) => line.startsWith('-')

describe('what is left out of a log', () => {
  test('is whole lines and nothing else, wherever the pieces end', () => {
    const line = fc.string({ maxLength: 5 }).map((text) => text.replaceAll('\n', ''))
    const lines = fc.array(
      fc.oneof(
        line,
        line.map((text) => `-${text}`),
      ),
      { maxLength: 20 },
    )
    const cuts = fc.array(fc.nat(200), { maxLength: 20 })
    fc.assert(
      fc.property(lines, cuts, fc.boolean(), (all, at, isEnded) => {
        const text = all.join('\n') + (isEnded ? '\n' : '')
        const ends = [...new Set([0, ...at.map((cut) => Math.min(cut, text.length)), text.length])].sort(
          (a, b) => a - b,
        )
        const sieve = new Sieve(isLeftOut)
        const kept =
          ends.map((end, i) => sieve.take(text.slice(ends[i - 1] ?? 0, end))).join('') + sieve.end()
        const expected = text.split(/(?<=\n)/).filter((one) => !isLeftOut(one))
        expect(kept).toBe(expected.join(''))
      }),
      { numRuns: rounds(200, 2_000) },
    )
  })

  test('is held until its line ends, and what is kept is not', () => {
    const sieve = new Sieve(isLeftOut)
    expect(sieve.take('-left')).toBe('')
    expect(sieve.take(' out\nkept\nhel')).toBe('kept\n')
    expect(sieve.take('d\n')).toBe('held\n')
    expect(sieve.take('the end')).toBe('')
    expect(sieve.end()).toBe('the end')
  })

  test('is no line that is too long to be parsed: it passes as it comes', () => {
    const sieve = new Sieve(isLeftOut)
    const long = `-${'x'.repeat(LONGEST_LINE)}`
    expect(sieve.take(long)).toBe(long)
    expect(sieve.take('and more')).toBe('and more')
    expect(sieve.take('\n-short\n')).toBe('\n')
  })
})
