import { expect, test } from 'vitest'
import { RUN_TIME } from '../../../src/kinds/usage/record.ts'
import { savings } from '../../../src/kinds/usage/rules/saved.ts'

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
const ofEach = (all: ReturnType<typeof used>[]) => all.map((one) => savings(all, table)([one]))

test('what each model saved is what the dearest would have cost, less what was paid, or would have been with a subscription', () => {
  const all = [
    used('small', '1.1'),
    used('large', '11'),
    used('small', '0.6', '0.5'),
    used('small', null, '1'),
  ]
  expect(ofEach(all)).toEqual(['9.9', '0', '9.9', '10'])
  expect(savings(all, table)(all)).toBe('29.8')
})

test('a part is compared with the dearest of the whole, so that the parts add up', () => {
  const all = [used('small', '1.1'), used('large', '11')]
  expect(savings(all, table)([used('small', '1.1')])).toBe('9.9')
  expect(savings([used('small', '1.1')], table)([used('small', '1.1')])).toBe('0')
})

test('nothing is said where a cost or a price is unknown', () => {
  expect(ofEach([used('small', '1.1'), used('x/own', '3'), used('large', null)])).toEqual(['9.9', null, null])
  expect(ofEach([used('x/own', '3')])).toEqual([null])
  expect(savings([], table)([])).toBeNull()
})

test('the time of runs saves nothing, though it costs', () => {
  const time = { ...used(RUN_TIME, '5'), inputTokens: 0, cachedInputTokens: 0 }
  const all = [used('small', '1.1'), used('large', '11'), time]
  expect(savings(all, table)([time])).toBeNull()
  expect(savings(all, table)(all)).toBe('9.9')
})
