import { describe, expect, test } from 'vitest'
import { type PriceRecord, priceTable } from '../../../src/kinds/price/record.ts'
import { decidePrice, type PriceCommand, type PriceRates } from '../../../src/kinds/price/rules.ts'
import { costOf, costOfUsage, longContextFrom, priceName } from '../../../src/kinds/run/prices/cost.ts'
import { PRICES } from '../../../src/kinds/run/prices/table.ts'

const NOON = Date.parse('2026-05-04T12:00:00Z')
const RATES: PriceRates = {
  ...{ input: '2', cachedInput: '0.5', cacheWrite: null, cacheWrite1h: null, output: '8' },
  longContext: null,
}
const always = () => true
const set = (rates: Partial<PriceRates> = {}): PriceCommand => ({
  ...{ kind: 'set', rates: { ...RATES, ...rates }, isAsRead: always },
})
const decide = (before: PriceRecord | null, command: PriceCommand, count = 0) =>
  decidePrice(before, 'gpt-5', command, { now: NOON, origin: { actor: 'key:1' }, count })
const own: PriceRecord = { model: 'gpt-5', ...RATES, changedAt: NOON }

describe('the price that a workspace sets', () => {
  test('is stored with plain decimals and told by an event, and the same again changes nothing', () => {
    const longContext = { fromTokens: 1_000, ...RATES, input: '04.50' }
    const { record, events } = decide(null, set({ input: '2.50', cacheWrite1h: '0', longContext }))
    const { longContext: _, ...rates } = RATES
    const stored = {
      ...rates,
      ...{ input: '2.5', cacheWrite1h: '0', longContext: { fromTokens: 1_000, ...rates, input: '4.5' } },
    }
    expect(record).toEqual({ model: 'gpt-5', ...stored, changedAt: NOON })
    expect(events).toMatchObject([{ type: 'price_changed', payload: { model: 'gpt-5', ...stored } }])
    const again = decide(record, set({ input: '2.5', cacheWrite1h: '0.0', longContext }))
    expect([again.record, again.events]).toEqual([record, []])
    expect(again.record).toBe(record)
  })

  test('is refused when another was read, when there is none to remove, and beyond a thousand models', () => {
    const stale: PriceCommand = { kind: 'remove', isAsRead: (now) => now === null }
    expect(decide(own, stale).refusal?.code).toBe('VERSION_MISMATCH')
    expect(decide(own, { ...set(), isAsRead: () => false }).refusal?.code).toBe('VERSION_MISMATCH')
    expect(decide(null, { kind: 'remove', isAsRead: always }).refusal?.code).toBe('NOT_FOUND')
    expect(decide(null, set(), 999).refusal).toBeNull()
    expect(decide(null, set(), 1_000).refusal?.code).toBe('LIMIT_REACHED')
    expect(decide(own, set({ input: '3' }), 1_000).refusal, 'it is one of them').toBeNull()
    expect(decide(own, { kind: 'remove', isAsRead: always })).toMatchObject({
      record: null,
      events: [{ type: 'price_removed', payload: { model: 'gpt-5' } }],
    })
  })

  test('replaces that of the list, under every name of the model, and others stay', () => {
    const table = priceTable([own, { ...own, model: 'house' }, { ...own, model: '__proto__' }])
    const million = { input: 1_000_000, output: 0 }
    for (const name of ['gpt-5', 'openai/gpt-5', 'gpt-5-2026-04-01', 'x/house', '__proto__'])
      expect(costOf(name, million, table), name).toBe('2')
    expect(costOf('gpt-5', million)).toBe('1.25')
    expect(costOf('gpt-5-mini', million, table)).toBe('0.25')
    expect(costOfUsage('gpt-5', { inputTokens: 0, outputTokens: 1_000_000 }, table)).toBe('8')
    expect(priceTable([])).toBe(PRICES)
    const long = { fromTokens: 5, ...RATES, input: '9' }
    expect(longContextFrom('gpt-5', priceTable([{ ...own, longContext: long }]))).toBe(5)
    expect(table['gpt-5']).toMatchObject({ seenOn: '2026-05-04', source: 'This workspace' })
  })

  test.each([
    ['opus', 'claude-opus-5-5'],
    ['anthropic/claude-opus-4-1-20250805', 'claude-opus-4-1'],
    ['us.anthropic.claude-opus-4-5-20251101-v1:0', 'claude-opus-4-5'],
    ['GPT-5', 'gpt-5'],
    ['x/House-Model-2026-01-01', 'house-model'],
    ['[1m]', '[1m]'],
    ['/', '/'],
  ])('for %s is kept as that of %s', (given, name) => {
    expect(priceName(given)).toBe(name)
    expect(costOf(given, { input: 1_000_000, output: 0 }, priceTable([{ ...own, model: name }]))).toBe('2')
  })
})
