import { expect, test } from 'vitest'
import { pacedUntil } from '../../../src/kinds/budget/rules/pace.ts'

const HOUR_MS = 3_600_000
const START = Date.parse('2026-05-04T00:00:00Z')
const at = (hour: number) => START + hour * HOUR_MS
const budget = {
  ...{ isPaced: true, periodStart: START, periodEnd: at(24), maxUsd: '24', maxTokens: null },
  ...{ consumedUsd: '0', consumedTokens: 0, reservedUsd: '0', reservedTokens: 0 },
}

test('the first work of a period is handed out at once', () => {
  expect(pacedUntil(budget, START)).toBeNull()
})

test('the next is handed out when the period has caught up with what is consumed and reserved', () => {
  const used = { ...budget, consumedUsd: '3', reservedUsd: '1.5' }
  expect(pacedUntil(used, START)).toBe(at(4.5))
  expect(pacedUntil(used, at(4.5) - 1)).toBe(at(4.5))
  expect(pacedUntil(used, at(4.5))).toBeNull()
})

test('it is never sooner than the share says: time is rounded up', () => {
  const used = { ...budget, consumedUsd: '0.000000000001' }
  expect(pacedUntil(used, START)).toBe(START + 1)
})

test('of dollars and tokens the later one counts', () => {
  const both = { ...budget, consumedUsd: '1', maxTokens: 2_400, consumedTokens: 300, reservedTokens: 100 }
  expect(pacedUntil(both, START)).toBe(at(4))
  expect(pacedUntil({ ...both, consumedUsd: '5' }, START)).toBe(at(5))
})

test('what is used up waits for the next period', () => {
  expect(pacedUntil({ ...budget, consumedUsd: '30' }, at(1))).toBe(at(24))
  expect(pacedUntil({ ...budget, maxUsd: '0', consumedUsd: '1' }, at(1))).toBe(at(24))
})

test('spread over its period, it lasts until the end, and nothing is left over', () => {
  let [consumed, now, handedOut] = [0, START, 0]
  while (now < at(24)) {
    const until = pacedUntil({ ...budget, consumedUsd: String(consumed) }, now)
    if (until !== null) {
      now = until
      continue
    }
    handedOut++
    consumed += 2
  }
  expect(handedOut).toBe(12)
})

test.each([
  ['not paced', { isPaced: false }],
  ['without a period', { periodEnd: null }],
  ['without a limit', { maxUsd: null }],
])('a budget %s hands out at any time', (_what, set) => {
  expect(pacedUntil({ ...budget, consumedUsd: '23', ...set }, START)).toBeNull()
})
