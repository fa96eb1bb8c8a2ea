import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { billedCost } from '../../../src/kinds/run/prices/billed.ts'
import type { ModelUsage, TokenUsage } from '../../../src/kinds/run/rules/usage.ts'
import { totalsOf } from '../../../src/kinds/usage/rules/book.ts'
import { ledgerOf } from '../../../src/kinds/usage/rules/priced.ts'
import { sumOfDollars } from '../../../src/pure/money.ts'
import { rounds } from '../../support/rounds.ts'

/** What a program tells, at its price, as the ledger books it. */

const RATES = { input: '1', cachedInput: '0.1', cacheWrite: '1.25', cacheWrite1h: '2', output: '10' }
const PRICED = { ...RATES, longContext: null, seenOn: '2026-01-01', source: 'a test' }
const table = { priced: PRICED, dear: { ...PRICED, output: '100' }, constructor: PRICED }
const bill = (usage: TokenUsage | null, more: Partial<Parameters<typeof billedCost>[0]> = {}) =>
  ledgerOf(billedCost({ model: 'priced', usage, told: null, billing: 'api', table, ...more }))
const tokens = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens })

describe('what a run used is booked', () => {
  test('at the price of its model, with cached input, cache writes of both kinds and reasoning apart', () => {
    const usage = {
      ...{ inputTokens: 1_000, cachedInputTokens: 500, outputTokens: 100, reasoningTokens: 60 },
      ...{ cacheWriteInputTokens: 300, cacheWrite1hInputTokens: 100 },
    }
    expect(bill(usage)).toEqual({
      priced: {
        ...{ inputTokens: 1_000, cachedInputTokens: 500, outputTokens: 100, reasoningTokens: 60 },
        ...{ cacheWrite5mTokens: 200, cacheWrite1hTokens: 100 },
        // 700 at 1, 200 at 1.25, 100 at 2, 500 at 0.1 and 100 at 10 dollars a million
        ...{ costUsd: '0.0022', basis: 'priced' },
      },
    })
  })

  test('as what its program says that it cost, whatever the price', () => {
    expect(bill(tokens(1_000, 100), { told: '0.5' })).toMatchObject({
      priced: { inputTokens: 1_000, costUsd: '0.5', basis: 'reported' },
    })
  })

  test('as unknown without a price, under the name of its model, and under "unknown" without a name', () => {
    expect(bill(tokens(7, 3), { model: 'nobody-knows-it' })).toMatchObject({
      'nobody-knows-it': { inputTokens: 7, costUsd: null, basis: 'unknown' },
    })
    expect(bill(tokens(7, 3), { model: null })).toMatchObject({
      unknown: { costUsd: null, basis: 'unknown' },
    })
  })

  test('as notional under a subscription, at the same price', () => {
    expect(bill(tokens(1_000, 100), { billing: 'subscription' })).toMatchObject({
      priced: { costUsd: '0.002', basis: 'notional' },
    })
    expect(totalsOf(bill(tokens(1_000, 100), { billing: 'subscription' }))).toMatchObject({
      ...{ costUsd: null, notionalUsd: '0.002', isCostUnknown: false },
    })
  })

  test('with its cost alone, when its program tells no tokens', () => {
    const booked = bill(null, { told: '0.25' })
    expect(booked).toMatchObject({ unknown: { outputTokens: 0, costUsd: '0.25', basis: 'reported' } })
    expect(totalsOf(booked)).toMatchObject({ costUsd: '0.25', tokens: 0, isCostUnknown: false })
  })

  test('as nothing, when its program tells neither', () => {
    expect(bill(null)).toEqual({})
  })

  test('never with more cache writes than input', () => {
    const usage = { ...tokens(10, 0), cacheWriteInputTokens: 900, cacheWrite1hInputTokens: 950 }
    expect(bill(usage)).toMatchObject({
      priced: { inputTokens: 10, cacheWrite1hTokens: 10, cacheWrite5mTokens: 0 },
    })
  })
})

describe('two models of a run are booked', () => {
  const both = (...models: ModelUsage[]): TokenUsage => ({
    ...tokens(
      models.reduce((all, one) => all + one.inputTokens, 0),
      models.reduce((all, one) => all + one.outputTokens, 0),
    ),
    models,
  })
  const opus = { model: 'priced', ...tokens(1_000, 100) }
  const haiku = { model: 'dear', ...tokens(10, 1) }

  test('each at its own price', () => {
    expect(bill(both(opus, haiku))).toMatchObject({
      priced: { costUsd: '0.002', basis: 'priced' },
      dear: { costUsd: '0.00011', basis: 'priced' },
    })
  })

  test('with what the program told of all of them, the rest with the one that used most', () => {
    const booked = bill(both(opus, haiku), { told: '1' })
    expect(totalsOf(booked)).toMatchObject({ costUsd: '1', tokens: 1_111 })
    expect(booked).toMatchObject({ dear: { costUsd: '0.00011' } })
  })

  test('under one name as one, when the program names a model twice', () => {
    const booked = bill(both(opus, { ...opus, ...tokens(5, 5) }))
    expect(Object.keys(booked)).toEqual(['priced'])
    expect(booked.priced).toMatchObject({ inputTokens: 1_005, outputTokens: 105, costUsd: '0.002055' })
  })

  test('as unknown together, when one of two of the same name has no cost', () => {
    const booked = bill(both({ model: 'x', ...tokens(5, 5), costUsd: '1' }, { model: 'x', ...tokens(1, 1) }))
    expect(booked).toMatchObject({ x: { costUsd: null, basis: 'unknown', inputTokens: 6 } })
  })

  test.each(['constructor', '__proto__', 'toString'])('when one is called %s', (model) => {
    const booked = bill(both(opus, { model, ...tokens(30, 3), costUsd: '0.5' }))
    expect(totalsOf(booked)).toMatchObject({ inputTokens: 1_030, outputTokens: 103, costUsd: '0.502' })
  })
})

test('whatever a program tells, the rows by model add up to it: tokens, and dollars to the pico-dollar', () => {
  const count = fc.nat({ max: 1_000_000 })
  const cost = fc.option(
    fc.nat({ max: 10 ** 9 }).map((nanos) => sumOfDollars(`0.${String(nanos).padStart(9, '0')}`)),
  )
  const aModel = fc.record({
    model: fc.constantFrom('priced', 'dear', 'nobody-knows-it', 'constructor'),
    ...{ inputTokens: count, outputTokens: count, cachedInputTokens: count },
    cost,
  })
  const models = fc.array(aModel, { minLength: 1, maxLength: 4 })
  const billing = fc.constantFrom('api' as const, 'subscription' as const)
  fc.assert(
    fc.property(models, cost, billing, (parts, told, by) => {
      const sum = (of: 'inputTokens' | 'outputTokens' | 'cachedInputTokens') =>
        parts.reduce((all, one) => all + one[of], 0)
      const usage: TokenUsage = {
        ...{ inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') },
        cachedInputTokens: sum('cachedInputTokens'),
        models: parts.map(({ cost: costUsd, ...one }) => ({ ...one, ...(costUsd !== null && { costUsd }) })),
      }
      const billed = billedCost({ model: null, usage, told, billing: by, table })
      const totals = totalsOf(ledgerOf(billed))
      expect(totals).toMatchObject({ inputTokens: usage.inputTokens, outputTokens: usage.outputTokens })
      expect(totals.cachedInputTokens).toBe(usage.cachedInputTokens)
      if (billed.costUsd === null) return
      expect(by === 'api' ? totals.costUsd : totals.notionalUsd).toBe(sumOfDollars(billed.costUsd))
      expect(by === 'api' ? totals.notionalUsd : totals.costUsd).toBeNull()
    }),
    { numRuns: rounds(300, 20_000) },
  )
})
