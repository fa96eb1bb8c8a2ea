import { expect, test } from 'vitest'
import { savedOf } from '../../../src/kinds/usage/rules/saved.ts'

const RATES = {
  cacheWrite: null,
  cacheWrite1h: null,
  longContext: null,
  seenOn: '2026-05-04',
  source: 'test',
}
const table = {
  small: { ...RATES, input: '1', cachedInput: '0.1', output: '5' },
  large: { ...RATES, input: '10', cachedInput: '1', output: '50' },
}
const used = (model: string | null, costUsd: string | null, notionalUsd: string | null = null) => ({
  ...{ model, costUsd, notionalUsd },
  ...{ inputTokens: 1_000_000, cachedInputTokens: 1_000_000, outputTokens: 0 },
})

test('what each model saved is what the dearest would have cost, less what was paid, or would have been with a subscription', () => {
  const all = [used('small', '1.1'), used('large', '11'), used('small', '0.6', '0.5')]
  expect(savedOf(all, table)).toEqual(['9.9', '0', '9.9'])
})

test('nothing is said where a cost or a price is unknown', () => {
  expect(savedOf([used('small', '1.1'), used('x/own', '3'), used('large', null)], table)).toEqual([
    '9.9',
    null,
    null,
  ])
  expect(savedOf([used('x/own', '3')], table)).toEqual([null])
  expect(savedOf([], table)).toEqual([])
})
