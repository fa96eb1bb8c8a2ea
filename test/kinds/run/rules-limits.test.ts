import { describe, expect, test } from 'vitest'
import { restsUntil } from '../../../src/kinds/run/rules/ending.ts'
import { timeoutSecAfter } from '../../../src/kinds/run/rules/timeout.ts'

/** The time limits of runs and accounts: the rules alone. */

const NOW = 1_800_000_000_000
const DAY_MS = 86_400_000

describe('a run after timeouts', () => {
  test('has twice the time of the previous one, at most eight times the configured time', () => {
    expect([0, 1, 2, 3, 4, 100].map((timeouts) => timeoutSecAfter(1_800, timeouts))).toEqual([
      1_800, 3_600, 7_200, 14_400, 14_400, 14_400,
    ])
  })

  test('never has more than a week', () => {
    expect(timeoutSecAfter(5 * 86_400, 1)).toBe(7 * 86_400)
    expect(timeoutSecAfter(7 * 86_400, 3)).toBe(7 * 86_400)
  })
})

describe('a rate-limited account rests', () => {
  test('until its reset, or for a minute when none is given', () => {
    expect(restsUntil(NOW + 5_000, NOW)).toBe(NOW + 5_000)
    expect(restsUntil(undefined, NOW)).toBe(NOW + 60_000)
  })

  test('never longer than eight days', () => {
    expect(restsUntil(NOW + 365 * DAY_MS, NOW)).toBe(NOW + 8 * DAY_MS)
  })
})
