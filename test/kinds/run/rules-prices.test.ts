import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { costOf, costOfUsage, priceOf } from '../../../src/kinds/run/prices/cost.ts'
import { ALIASES, PRICES } from '../../../src/kinds/run/prices/table.ts'

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
    for (const { input, cachedInput, cacheWrite, output, seenOn, source } of Object.values(PRICES)) {
      for (const decimal of [input, cachedInput, cacheWrite ?? '0', output])
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
    // Half a nano-dollar.
    const cheap = { house: { ...PRICES['gpt-5']!, input: '0.0005' } }
    expect(costOf('house', { input: 1, output: 0 }, cheap)).toBe('0.000000001')
  })

  test('of cache writes is that of input where no other is known', () => {
    expect(costOf('gpt-5', { input: 0, cacheWrite: 1_000_000, output: 0 })).toBe('1.25')
    expect(costOf('claude-opus-5', { input: 0, cacheWrite: 1_000_000, output: 0 })).toBe('6.25')
  })
})

test('what was written to the cache is a part of the input, and what was read from it stands beside it', () => {
  // gpt-5.6-sol: $4 input, $0.4 cached, $5 written, $20 output.
  const usage = { inputTokens: 1_000_000, cachedInputTokens: 500_000, outputTokens: 100_000 }
  expect(costOfUsage('gpt-5.6-sol', usage)).toBe('6.2')
  expect(costOfUsage('gpt-5.6-sol', { ...usage, cacheWriteInputTokens: 1_000_000 })).toBe('7.2')
  expect(costOfUsage(null, usage)).toBeNull()
})
