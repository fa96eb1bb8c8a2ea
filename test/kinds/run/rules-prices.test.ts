import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { billedCost } from '../../../src/kinds/run/prices/billed.ts'
import { costOf, costOfUsage, longContextFrom, priceOf } from '../../../src/kinds/run/prices/cost.ts'
import { ALIASES, PRICES } from '../../../src/kinds/run/prices/table.ts'
import type { TokenUsage } from '../../../src/kinds/run/rules/usage.ts'

describe('the price of a model', () => {
  test.each([
    ['claude-opus-5[1m]', 'claude-opus-5'],
    ['claude-opus-5-5', 'claude-opus-5-5'],
    ['Claude-Opus-5-5', 'claude-opus-5-5'],
    ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
    ['claude-3-5-haiku-latest', 'claude-haiku-3-5'],
    ['opus', 'claude-opus-5-5'],
    ['opus[1m]', 'claude-opus-5-5'],
    ['anthropic/claude-opus-4-1', 'claude-opus-4-1'],
    ['us.anthropic.claude-opus-4-5-20251101-v1:0', 'claude-opus-4-5'],
    ['claude-opus-4-5@20251101', 'claude-opus-4-5'],
    ['gpt-5-2026-04-01', 'gpt-5'],
    ['openai/gpt-5-codex', 'gpt-5-codex'],
    ['models/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['gpt-5.6', 'gpt-5.6-sol'],
  ])('is found under the name %s', (reported, model) => {
    expect(priceOf(reported)).toBe(PRICES[model])
    expect(PRICES[model]).toBeDefined()
  })

  test.each(['<synthetic>', 'gemini-x', '', 'toString', '__proto__', 'gpt-5.4-ultra', 'claude-opus-55'])(
    'is unknown for %j: a similar name is no price',
    (model) => {
      expect(priceOf(model)).toBeNull()
      expect(costOf(model, { input: 1, output: 1 })).toBeNull()
    },
  )

  test('has a date, a source and exact decimals, and every alias has a price', () => {
    for (const { seenOn, source, longContext, ...rates } of Object.values(PRICES)) {
      for (const { input, cachedInput, cacheWrite, cacheWrite1h, output } of [rates, longContext ?? rates])
        for (const decimal of [input, cachedInput, cacheWrite ?? '0', cacheWrite1h ?? '0', output])
          expect(decimal).toMatch(/^\d+(\.\d+)?$/)
      expect(seenOn).toMatch(/^20\d\d-\d\d-\d\d$/)
      expect(source).not.toBe('')
    }
    for (const model of Object.values(ALIASES)) expect(PRICES[model], model).toBeDefined()
  })

  test("has Mosaic's figures for its three models", () => {
    const inAndOut = (model: string) => [priceOf(model)?.input, priceOf(model)?.output]
    expect([inAndOut('claude-haiku-3-5'), inAndOut('claude-sonnet-4'), inAndOut('claude-opus-4')]).toEqual([
      ['0.8', '4'],
      ['3', '15'],
      ['15', '75'],
    ])
  })

  test('gives the cost that claude itself reported', () => {
    const text = readFileSync(join(import.meta.dirname, '../../contracts/claude.json.success.stdout'), 'utf8')
    const { usage, modelUsage, total_cost_usd } = JSON.parse(text)
    const [model] = Object.keys(modelUsage)
    const tokens = {
      input: usage.input_tokens,
      cachedInput: usage.cache_read_input_tokens,
      cacheWrite: usage.cache_creation_input_tokens,
      output: usage.output_tokens,
    }
    expect(costOf(model!, tokens)).toBe(String(total_cost_usd))
  })

  test('is exact for sums that floats cannot hold, and a workspace may have its own', () => {
    expect(costOf('gpt-5.4-mini', { input: 1, output: 0 })).toBe('0.00000075')
    expect(costOf('claude-opus-4', { input: 9_007_199_254_740_991, output: 1 })).toBe('135107988821.11494')
    const own = { house: { ...PRICES['gpt-5']!, input: '0.000001' } }
    expect(costOf('house', { input: 500_000_000, output: 0 }, own)).toBe('0.0005')
    expect(costOf('gpt-5', { input: 1, output: 0 }, own)).toBeNull()
    // Half a pico-dollar, and a little less.
    const cheap = { house: { ...PRICES['gpt-5']!, input: '0.0000005', output: '0.000000499999' } }
    expect(costOf('house', { input: 1, output: 0 }, cheap)).toBe('0.000000000001')
    expect(costOf('house', { input: 0, output: 1 }, cheap)).toBe('0')
  })

  test('of cache writes is that of input where no other is known', () => {
    expect(costOf('gpt-5', { input: 0, cacheWrite: 1_000_000, output: 0 })).toBe('1.25')
    expect(costOf('claude-opus-5', { input: 0, cacheWrite: 1_000_000, output: 0 })).toBe('6.25')
    expect(costOf('claude-opus-5', { input: 0, cacheWrite1h: 1_000_000, output: 0 })).toBe('10')
    expect(costOf('gpt-5.6-sol', { input: 0, cacheWrite1h: 1_000_000, output: 0 })).toBe('5')
    expect(costOf('gpt-5', { input: 0, cacheWrite1h: 1_000_000, output: 0 })).toBe('1.25')
  })

  test('of long requests is another where the model has one', () => {
    const long = ['gpt-5.5', 'openai/gpt-5.4', 'gemini-2.5-pro', 'claude-sonnet-4-5-20250929']
    expect(long.map((model) => longContextFrom(model))).toEqual([272_000, 272_000, 200_000, 200_000])
    expect(['gpt-5', 'claude-opus-5', 'nobody-knows-it'].map((model) => longContextFrom(model))).toEqual([
      null,
      null,
      null,
    ])
    expect(priceOf('gpt-5.6-sol')?.longContext).toEqual({
      ...{ fromTokens: 272_000, input: '8', cachedInput: '0.8' },
      ...{ cacheWrite: '10', cacheWrite1h: null, output: '30' },
    })
    expect(longContextFrom('house', { house: PRICES['gpt-5.5']! })).toBe(272_000)
  })
})

test('what was written to the cache is a part of the input, and what was read from it stands beside it', () => {
  // gpt-5.6-sol: $4 input, $0.4 cached, $5 written, $20 output.
  const usage = { inputTokens: 1_000_000, cachedInputTokens: 500_000, outputTokens: 100_000 }
  expect(costOfUsage('gpt-5.6-sol', usage)).toBe('6.2')
  expect(costOfUsage('gpt-5.6-sol', { ...usage, cacheWriteInputTokens: 1_000_000 })).toBe('7.2')
  expect(costOfUsage(null, usage)).toBeNull()
})

describe('the cost of a run', () => {
  const counts = { inputTokens: 0, outputTokens: 0 }

  test('prices what the cache keeps for an hour apart from what it keeps for five minutes', () => {
    // claude-opus-5: $5 input, $0.5 cached, $6.25 and $10 written, $25 output.
    const usage = {
      ...{ inputTokens: 1_000, cachedInputTokens: 20_000, outputTokens: 300 },
      ...{ cacheWriteInputTokens: 700, cacheWrite1hInputTokens: 200 },
    }
    // (300 × 5 + 20,000 × 0.5 + 500 × 6.25 + 200 × 10 + 300 × 25) / 1,000,000
    expect(costOfUsage('claude-opus-5', usage)).toBe('0.024125')
    // No more can be kept for an hour than was written, and no more written than was sent.
    const tooMuch = { ...usage, cacheWriteInputTokens: 5_000, cacheWrite1hInputTokens: 9_000 }
    expect(costOfUsage('claude-opus-5', tooMuch)).toBe('0.0275')
  })

  test('prices what belongs to long requests at the price of long requests', () => {
    const model = 'claude-sonnet-4-5'
    const longContext = {
      ...{ inputTokens: 250_000, cachedInputTokens: 10_000, outputTokens: 1_000 },
      ...{ cacheWriteInputTokens: 40_000, cacheWrite1hInputTokens: 10_000 },
    }
    const used = {
      model,
      ...{ inputTokens: 300_000, cachedInputTokens: 110_000, outputTokens: 3_000 },
      ...{ cacheWriteInputTokens: 60_000, cacheWrite1hInputTokens: 10_000, longContext },
    }
    const usage = { ...used, models: [used] }
    // Long: 210,000 × 6 + 10,000 × 0.6 + 30,000 × 7.5 + 10,000 × 12 + 1,000 × 22.5 = 1,633,500
    // Others: 30,000 × 3 + 100,000 × 0.3 + 20,000 × 3.75 + 0 × 6 + 2,000 × 15 = 225,000
    expect(costOfUsage(null, usage)).toBe('1.8585')
    // A model without a price of its own for them: 240,000 × 5 + 110,000 × 0.5 + 50,000 × 6.25 + 10,000 × 10 + 3,000 × 25
    expect(costOfUsage(null, { ...usage, models: [{ ...used, model: 'claude-opus-5' }] })).toBe('1.7425')
  })

  test('prices each model by its own name, rounded once for each, and knows none if one of them has no price', () => {
    const parts = [
      { model: 'claude-opus-5', inputTokens: 1_000, outputTokens: 10 },
      { model: 'claude-haiku-4-5-20251001', inputTokens: 2_000, outputTokens: 20 },
    ]
    const usage = { inputTokens: 3_000, outputTokens: 30, models: parts }
    // 0.005 + 0.00025, and 0.002 + 0.0001
    expect(costOfUsage('gpt-5', usage)).toBe('0.00735')
    const unknown = { model: 'nobody-knows-it', ...counts }
    expect(costOfUsage(null, { ...usage, models: [...parts, unknown] })).toBe('0.00735')
    expect(costOfUsage(null, { ...usage, models: [...parts, { ...unknown, outputTokens: 1 }] })).toBeNull()
    const half = { ...PRICES['gpt-5']!, input: '0.0000005' }
    const two = [
      { model: 'a', ...counts, inputTokens: 1 },
      { model: 'b', ...counts, inputTokens: 1 },
    ]
    expect(costOfUsage(null, { inputTokens: 2, outputTokens: 0, models: two }, { a: half, b: half })).toBe(
      '0.000000000002',
    )
    expect(costOfUsage('a', { inputTokens: 2, outputTokens: 0 }, { a: half, b: half })).toBe('0.000000000001')
  })

  const usage = { inputTokens: 1_000_000, outputTokens: 100_000 }
  const billed = (changed: Partial<Parameters<typeof billedCost>[0]>) => {
    const { costUsd, basis } = billedCost({ model: 'gpt-5', usage, told: null, billing: 'api', ...changed })
    return [costUsd, basis]
  }

  test('is what the program tells, else what its tokens cost, and says which', () => {
    expect(billed({ told: '0.5' })).toEqual(['0.5', 'reported'])
    expect(billed({ told: '0.5', model: null, usage: null })).toEqual(['0.5', 'reported'])
    expect(billed({ told: '0.1234567890125' })).toEqual(['0.123456789013', 'reported'])
    expect(billed({})).toEqual(['2.25', 'priced'])
    expect(billed({ model: null })).toEqual([null, 'unknown'])
    expect(billed({ model: 'nobody-knows-it' })).toEqual([null, 'unknown'])
    expect(billed({ usage: null })).toEqual([null, 'unknown'])
    expect(billed({ table: { 'gpt-5': { ...PRICES['gpt-5']!, input: '2' } } })).toEqual(['3', 'priced'])
  })

  test('is notional with a subscription, unless it is unknown', () => {
    const billing = 'subscription' as const
    expect(billed({ billing })).toEqual(['2.25', 'notional'])
    expect(billed({ billing, told: '0.5' })).toEqual(['0.5', 'notional'])
    expect(billed({ billing, model: null })).toEqual([null, 'unknown'])
  })

  test('is told by model, as reported by each, as priced, or as what is left of the whole', () => {
    const models = [
      { model: 'claude-opus-5', inputTokens: 1_000, outputTokens: 10, costUsd: '0.006' },
      { model: 'claude-haiku-4-5', inputTokens: 2_000, outputTokens: 20 },
    ]
    const of = (told: string | null, parts: TokenUsage['models'] = models) => {
      const all = billedCost({
        model: null,
        usage: { ...counts, models: parts! },
        told,
        billing: 'api',
      })
      return [
        all.costUsd,
        all.basis,
        ...all.models.map(({ model, costUsd, basis }) => [model, costUsd, basis]),
      ]
    }
    expect(of(null)).toEqual([
      ...['0.0081', 'priced'],
      ...[
        ['claude-opus-5', '0.006', 'reported'],
        ['claude-haiku-4-5', '0.0021', 'priced'],
      ],
    ])
    expect(of('0.01')).toEqual([
      ...['0.01', 'reported'],
      ...[
        ['claude-opus-5', '0.006', 'reported'],
        ['claude-haiku-4-5', '0.004', 'reported'],
      ],
    ])
    expect(of(null, models.slice(0, 1))).toEqual([
      ...['0.006', 'reported'],
      ['claude-opus-5', '0.006', 'reported'],
    ])
    expect(of(null, [models[0]!, { ...models[1]!, model: 'nobody-knows-it' }])).toEqual([
      ...[null, 'unknown'],
      ['claude-opus-5', '0.006', 'reported'],
      ['nobody-knows-it', null, 'unknown'],
    ])
  })
})
