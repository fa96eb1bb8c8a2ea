import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CostBasis, ModelTotals, UsageRow, UsageSource } from '../../../src/kinds/usage/record.ts'
import { book, NO_TOTALS, tokensOf, totalsOf, type UsageReport } from '../../../src/kinds/usage/rules/book.ts'
import { sumOfDollars } from '../../../src/pure/money.ts'
import { aSource, sumsOf, used } from '../../support/ledger.ts'
import { rounds } from '../../support/rounds.ts'

/** How reports of totals become rows of the ledger. */

const SECOND = 1_000
/** A report with a number, as the executor makes them, or without one, as most outside holders do. */
const report = (
  number: number | null,
  models: Readonly<Record<string, ModelTotals>>,
  more: Partial<UsageReport> = {},
): UsageReport => ({ number, isWhole: true, models, ...more })

/** Books reports one after the other, one a second. */
class Ledger {
  source = aSource()
  readonly rows: UsageRow[] = []
  tokens = 0
  usd = '0'
  notionalUsd = '0'
  #now = 0

  /** False: it added nothing. */
  books(said: UsageReport, afterMs = 2 * SECOND): boolean {
    this.#now += afterMs
    const booked = book(this.source, said, this.#now)
    if (!booked) return false
    this.source = booked.source
    this.rows.push(...booked.rows)
    this.tokens += booked.tokens
    this.usd = sumOfDollars(this.usd, booked.usd)
    this.notionalUsd = sumOfDollars(this.notionalUsd, booked.notionalUsd)
    return true
  }
}

describe('a report with a number', () => {
  test('books what is new since the last one', () => {
    const ledger = new Ledger()
    ledger.books(report(1, { opus: used(100, '1') }))
    ledger.books(report(2, { opus: used(250, '2.5') }))
    expect(ledger.rows.map(({ outputTokens, costUsd }) => [outputTokens, costUsd])).toEqual([
      [100, '1'],
      [150, '1.5'],
    ])
    expect(ledger).toMatchObject({ tokens: 250, usd: '2.5', notionalUsd: '0' })
  })

  test('adds nothing when it comes again, or after a later one, whatever it says', () => {
    const ledger = new Ledger()
    ledger.books(report(2, { opus: used(100, '1') }))
    expect(ledger.books(report(2, { opus: used(100, '1') }))).toBe(false)
    expect(ledger.books(report(2, { opus: used(900, '9') }))).toBe(false)
    expect(ledger.books(report(1, { opus: used(900, '9') }))).toBe(false)
    expect(ledger).toMatchObject({ tokens: 100, usd: '1' })
    expect(ledger.rows).toHaveLength(1)
  })

  test('corrects: what was too much is taken back by a negative row', () => {
    const ledger = new Ledger()
    ledger.books(report(1, { opus: used(100, '1') }))
    ledger.books(report(2, { opus: used(40, '0.25') }))
    expect(ledger.rows.at(-1)).toMatchObject({ number: 2, outputTokens: -60, costUsd: '-0.75' })
    expect(ledger).toMatchObject({ tokens: 40, usd: '0.25' })
  })

  test('that is whole takes back a model it no longer names; one that is not leaves it', () => {
    const both = { opus: used(100, '1'), haiku: used(10, '0.01') }
    const whole = new Ledger()
    whole.books(report(1, both))
    whole.books(report(2, { opus: used(100, '1') }))
    expect(sumsOf(whole.rows, 'haiku')).toMatchObject({ tokens: 0, paid: '0' })
    const part = new Ledger()
    part.books(report(1, both, { isWhole: false }))
    part.books(report(2, { opus: used(120, '1.2') }, { isWhole: false }))
    expect(sumsOf(part.rows, 'haiku')).toMatchObject({ tokens: 10, paid: '0.01' })
    expect(part.tokens).toBe(130)
  })

  test('is remembered when it adds no row, so that an earlier one stays late', () => {
    const ledger = new Ledger()
    ledger.books(report(1, { opus: used(100, '1') }))
    expect(ledger.books(report(5, { opus: used(100, '1') }))).toBe(true)
    expect(ledger.rows).toHaveLength(1)
    expect(ledger.books(report(4, { opus: used(7, '0.07') }))).toBe(false)
    expect(ledger.tokens).toBe(100)
  })
})

describe('a report without a number', () => {
  test('only grows: fewer tokens, less money or a missing model take nothing back', () => {
    const ledger = new Ledger()
    ledger.books(report(null, { opus: used(100, '1'), haiku: used(5, '0.1') }))
    expect(ledger.books(report(null, { opus: used(40, '0.25') }))).toBe(false)
    expect(ledger.books(report(null, { opus: used(100, '1') }))).toBe(false)
    expect(ledger).toMatchObject({ tokens: 105, usd: '1.1' })
  })

  test('takes of each figure the larger one', () => {
    const ledger = new Ledger()
    ledger.books(report(null, { opus: used(100, '1', { inputTokens: 7, reasoningTokens: 30 }) }))
    ledger.books(report(null, { opus: used(90, '1.5', { inputTokens: 9, reasoningTokens: 20 }) }))
    expect(ledger.source.booked.opus).toMatchObject({
      ...{ outputTokens: 100, inputTokens: 9, reasoningTokens: 30, costUsd: '1.5' },
    })
    expect(ledger).toMatchObject({ tokens: 109, usd: '1.5' })
  })

  test('with a cost that was not known before books the cost, and the tokens once', () => {
    const ledger = new Ledger()
    ledger.books(report(null, { opus: used(100) }))
    expect(totalsOf(ledger.source.booked)).toMatchObject({ costUsd: null, isCostUnknown: true })
    ledger.books(report(null, { opus: used(100, '0.5') }))
    expect(ledger).toMatchObject({ tokens: 100, usd: '0.5' })
    expect(totalsOf(ledger.source.booked)).toMatchObject({ costUsd: '0.5', isCostUnknown: false })
  })

  test('does not forget a number', () => {
    const ledger = new Ledger()
    ledger.books(report(3, { opus: used(100, '1') }))
    ledger.books(report(null, { opus: used(200, '2') }))
    expect(ledger.books(report(3, { opus: used(1, '0.01') }))).toBe(false)
    expect(ledger.tokens).toBe(200)
  })
})

describe('the last report of a source', () => {
  test('counts whatever its number, takes back what it does not name, and adds nothing when it comes again', () => {
    const ledger = new Ledger()
    ledger.books(report(9, { opus: used(100, '1'), haiku: used(10, '0.1') }))
    const last = report(null, { opus: used(90, '0.8') }, { isFinal: true })
    ledger.books(last)
    expect(ledger).toMatchObject({ tokens: 90, usd: '0.8' })
    expect(ledger.books(last)).toBe(false)
    expect(sumsOf(ledger.rows, 'haiku')).toMatchObject({ tokens: 0, paid: '0' })
  })
})

describe('a cost with another basis', () => {
  test('takes the old one back whole: what is paid falls by it, and what is not grows', () => {
    const ledger = new Ledger()
    ledger.books(report(1, { opus: used(100, '1', { basis: 'priced' }) }))
    ledger.books(report(2, { opus: used(150, '1.4', { basis: 'notional' }) }))
    expect(ledger).toMatchObject({ tokens: 150, usd: '0', notionalUsd: '1.4' })
    expect(
      ledger.rows.slice(1).map(({ basis, costUsd, outputTokens }) => [basis, costUsd, outputTokens]),
    ).toEqual([
      ['priced', '-1', 0],
      ['notional', '1.4', 50],
    ])
  })

  test('that is told instead of priced corrects it by the difference', () => {
    const ledger = new Ledger()
    ledger.books(report(1, { opus: used(100, '1', { basis: 'priced' }) }))
    ledger.books(report(2, { opus: used(100, '0.9') }))
    expect(ledger.usd).toBe('0.9')
    expect(ledger.rows.at(-1)).toMatchObject({ basis: 'reported', costUsd: '-0.1', outputTokens: 0 })
  })

  test('is unknown again when the model has lost its price: nothing of it stays paid', () => {
    const ledger = new Ledger()
    ledger.books(report(1, { opus: used(100, '1', { basis: 'priced' }) }))
    ledger.books(report(2, { opus: used(100) }))
    expect(ledger.usd).toBe('0')
    expect(totalsOf(ledger.source.booked)).toMatchObject({ costUsd: null, isCostUnknown: true, tokens: 100 })
  })
})

test('two models of one report are two rows under one number, exact to the pico-dollar', () => {
  const ledger = new Ledger()
  ledger.books(report(1, { opus: used(1, '0.000000000001'), haiku: used(2, '0.000000000002') }))
  expect(ledger.rows.map(({ model, number }) => [model, number])).toEqual([
    ['opus', 1],
    ['haiku', 1],
  ])
  for (let number = 2; number <= 1_000; number++)
    ledger.books(
      report(number, {
        opus: used(number, `0.${String(number).padStart(12, '0')}`),
        haiku: used(2, '0.000000000002'),
      }),
    )
  expect(ledger).toMatchObject({ tokens: 1_002, usd: '0.000000001002' })
  expect(sumsOf(ledger.rows, 'opus').paid).toBe('0.000000001')
})

describe('reports within a second', () => {
  test('are one row: they have its number, and the next second begins another', () => {
    const ledger = new Ledger()
    ledger.books(report(1, { opus: used(10, '1') }), 5 * SECOND)
    ledger.books(report(2, { opus: used(20, '2') }), 400)
    ledger.books(report(3, { opus: used(30, '3') }), 400)
    ledger.books(report(4, { opus: used(40, '4') }), 400)
    expect(ledger.rows.map(({ number }) => number)).toEqual([1, 1, 1, 2])
    expect(ledger.source.rows).toBe(2)
    expect(ledger).toMatchObject({ tokens: 40, usd: '4' })
  })

  test('never join the row of a second that is over, however many come', () => {
    const ledger = new Ledger()
    for (let i = 1; i <= 100; i++) ledger.books(report(i, { opus: used(i, null) }), 100)
    expect(ledger.source.rows).toBe(10)
  })
})

// What programs and prices can say of one model. A cost is unknown exactly when there is none.
const anAmount = fc.bigInt({ min: 0n, max: 10n ** 15n }).map((picos) => {
  const digits = picos.toString().padStart(13, '0')
  return sumOfDollars(`${digits.slice(0, -12)}.${digits.slice(-12)}`)
})
const aCost = fc.oneof(
  fc.constant({ costUsd: null, basis: 'unknown' as CostBasis }),
  fc.record({ costUsd: anAmount, basis: fc.constantFrom<CostBasis>('reported', 'priced', 'notional') }),
)
const aCount = fc.oneof(fc.nat({ max: 10 }), fc.nat({ max: 1_000_000_000 }))
const someTotals: fc.Arbitrary<ModelTotals> = fc
  .record({
    inputTokens: aCount,
    cachedInputTokens: aCount,
    outputTokens: aCount,
    written: aCount,
    hour: aCount,
    reasoningTokens: fc.option(aCount),
    cost: aCost,
  })
  .map(({ written, hour, cost, ...counts }) => ({
    ...{ ...NO_TOTALS, ...counts, ...cost },
    cacheWrite5mTokens: Math.min(written, counts.inputTokens),
    cacheWrite1hTokens: Math.min(hour, Math.max(0, counts.inputTokens - written)),
  }))
// Programs choose these names.
const someModels = fc
  .uniqueArray(fc.tuple(fc.constantFrom('opus', 'haiku', 'constructor', '__proto__'), someTotals), {
    selector: ([model]) => model,
  })
  .map((models): Record<string, ModelTotals> => Object.fromEntries(models))
const aReport: fc.Arbitrary<UsageReport> = fc.record({
  number: fc.option(fc.integer({ min: 1, max: 12 })),
  isWhole: fc.boolean(),
  isFinal: fc.boolean(),
  models: someModels,
})
const someReports = fc.array(fc.tuple(aReport, fc.nat({ max: 3_000 })), { maxLength: 20 })

function expectSumsToBeBooked(ledger: Ledger, source: UsageSource): void {
  for (const [model, is] of Object.entries(source.booked)) {
    const sums = sumsOf(ledger.rows, model)
    expect(sums).toMatchObject({
      ...{ inputTokens: is.inputTokens, cachedInputTokens: is.cachedInputTokens },
      ...{ cacheWrite5mTokens: is.cacheWrite5mTokens, cacheWrite1hTokens: is.cacheWrite1hTokens },
      ...{ outputTokens: is.outputTokens, tokens: tokensOf(is) },
    })
    const isNotional = is.basis === 'notional'
    expect(sums.notional).toBe(isNotional ? is.costUsd : '0')
    expect(sums.paid).toBe(isNotional || is.costUsd === null ? '0' : is.costUsd)
  }
  const totals = totalsOf(source.booked)
  expect({ tokens: ledger.tokens, usd: ledger.usd, notionalUsd: ledger.notionalUsd }).toEqual({
    tokens: totals.tokens,
    usd: totals.costUsd ?? '0',
    notionalUsd: totals.notionalUsd ?? '0',
  })
}

describe('whatever is reported', () => {
  test('the rows of each model add up to what is booked of it, and what is new to the totals', () => {
    fc.assert(
      fc.property(someReports, (reports) => {
        const ledger = new Ledger()
        for (const [said, afterMs] of reports) ledger.books(said, afterMs)
        expectSumsToBeBooked(ledger, ledger.source)
      }),
      { numRuns: rounds(300, 20_000) },
    )
  })

  test('numbered whole reports end the same in any order, and however often they come', () => {
    const numbered = fc.uniqueArray(
      fc.record({ number: fc.integer({ min: 1, max: 30 }), models: someModels }),
      { selector: ({ number }) => number, minLength: 1, maxLength: 8 },
    )
    const shuffled = numbered.chain((reports) =>
      fc.record({
        reports: fc.constant(reports),
        order: fc.array(fc.nat({ max: reports.length - 1 }), { maxLength: 24 }),
      }),
    )
    fc.assert(
      fc.property(shuffled, ({ reports, order }) => {
        const last = reports.reduce((a, b) => (b.number > a.number ? b : a))
        const ledger = new Ledger()
        const all = [...order.map((i) => reports[i]!), last, ...order.map((i) => reports[i]!)]
        for (const { number, models } of all) ledger.books(report(number, models))
        const once = new Ledger()
        once.books(report(last.number, last.models))
        expect(totalsOf(ledger.source.booked)).toEqual(totalsOf(once.source.booked))
        expectSumsToBeBooked(ledger, ledger.source)
      }),
      { numRuns: rounds(200, 10_000) },
    )
  })

  test('without numbers the totals end the same in any order, and nothing is ever taken back', () => {
    const growing = fc.array(fc.dictionary(fc.constantFrom('opus', 'haiku'), someTotals), { maxLength: 8 })
    fc.assert(
      fc.property(growing, fc.infiniteStream(fc.nat()), (reports, stream) => {
        const shuffle = [...reports].map((one) => ({ one, at: stream.next().value as number }))
        const another = shuffle.sort((a, b) => a.at - b.at).map(({ one }) => one)
        const [first, second] = [new Ledger(), new Ledger()]
        for (const models of reports) first.books(report(null, models))
        for (const models of [...another, ...another]) second.books(report(null, models))
        const tokens = ({ source }: Ledger) => totalsOf(source.booked).tokens
        expect(tokens(second)).toBe(tokens(first))
        for (const row of first.rows) expect(tokensOf(row)).toBeGreaterThanOrEqual(0)
      }),
      { numRuns: rounds(200, 10_000) },
    )
  })
})
