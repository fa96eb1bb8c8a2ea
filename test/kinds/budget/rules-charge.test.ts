import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BudgetRecord } from '../../../src/kinds/budget/record.ts'
import { chargeAll } from '../../../src/kinds/budget/rules/charge.ts'
import { type Amount, whyBlocked } from '../../../src/kinds/budget/rules/room.ts'
import {
  counted,
  countedBudget,
  roomIn as roomInCounted,
  withReserved,
} from '../../../src/kinds/budget/rules/room-for-claim.ts'
import type { Reservation, UsageSource } from '../../../src/kinds/usage/record.ts'
import { book } from '../../../src/kinds/usage/rules/book.ts'
import { lessDollars, picosOf, sumOfDollars, textOfPicos } from '../../../src/pure/money.ts'
import { aBudget, aReservation, budgetEvents, inPeriod, NOON, ZONE } from '../../support/budgets.ts'
import { aSource, used } from '../../support/ledger.ts'
import { rounds } from '../../support/rounds.ts'

/** What reports take from budgets, and what claims may reserve in them. */

const report = (models: Parameters<typeof book>[1]['models'], source: UsageSource = aSource()) =>
  book(source, { number: source.number + 1, isWhole: true, models }, NOON)!

interface Under {
  reservation?: Reservation | null
  isFinal?: boolean
  now?: number
}
const charge = (
  budgets: readonly BudgetRecord[],
  models: Parameters<typeof book>[1]['models'],
  { reservation = null, isFinal = false, now = NOON }: Under = {},
) => chargeAll(budgets, report(models), { reservation, isFinal, timeZone: ZONE, now })

/** Of an estimate that somebody made, or of a guess. */
type Expected = Amount & { isEstimate: boolean }

function roomIn(budgets: readonly BudgetRecord[], { isEstimate, ...amount }: Expected) {
  const room = roomInCounted(budgets.map(countedBudget), { ...counted(amount), isEstimate })
  if (room.kind !== 'reserve') return room
  const { tokens, usd, picos } = room.amount
  expect(picos).toBe(picosOf(usd))
  return { kind: room.kind, amount: { tokens, usd } }
}

describe('a report', () => {
  test('is booked in full in every budget that covers it, also in one that is spent', () => {
    const spent = aBudget({ budgetId: 'a', maxTokens: 10, consumedTokens: 10, exceededAt: 1, warnedAt: 1 })
    const { budgets, events } = charge([spent, aBudget({ budgetId: 'b' })], { opus: used(100, '1.5') })
    expect(budgets.map(({ consumedTokens, consumedUsd }) => [consumedTokens, consumedUsd])).toEqual([
      [110, '1.5'],
      [100, '1.5'],
    ])
    expect(budgetEvents(events), 'who is spent says it once').toEqual([])
  })

  test('that takes something back gives it back, and never more than was consumed', () => {
    const source = report({ opus: used(100, '1') }).source
    const less = book(source, { number: 9, isWhole: true, models: { opus: used(40, '0.25') } }, NOON)!
    const context = { reservation: null, isFinal: false, timeZone: ZONE, now: NOON }
    const [full] = chargeAll([aBudget({ consumedTokens: 150, consumedUsd: '2' })], less, context).budgets
    expect(full).toMatchObject({ consumedTokens: 90, consumedUsd: '1.25' })
    const [fresh] = chargeAll([aBudget({ consumedTokens: 5, consumedUsd: '0.1' })], less, context).budgets
    expect(fresh).toMatchObject({ consumedTokens: 0, consumedUsd: '0' })
  })

  test('of what is not paid by use takes tokens, and dollars only where that is chosen', () => {
    const models = { opus: used(100, '1', { basis: 'notional' }) }
    const { budgets } = charge(
      [aBudget({ budgetId: 'a', maxUsd: '1' }), aBudget({ budgetId: 'b', maxUsd: '1', countNotional: true })],
      models,
    )
    expect(budgets.map(({ consumedUsd, consumedTokens }) => [consumedUsd, consumedTokens])).toEqual([
      ['0', 100],
      ['1', 100],
    ])
  })

  test('in a new period is the first of it', () => {
    const old = inPeriod('day', NOON, { maxUsd: '1', consumedUsd: '1', exceededAt: NOON, warnedAt: NOON })
    const { budgets } = charge([old], { opus: used(1, '0.25') }, { now: old.periodEnd! })
    expect(budgets[0]).toMatchObject({ consumedUsd: '0.25', exceededAt: null, periodStart: old.periodEnd })
  })
})

test('no budget stops without its warning, whatever is used in whatever steps', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: -40, max: 400 }), fc.integer({ min: 0, max: 300 })), {
    maxLength: 12,
  })
  fc.assert(
    fc.property(fc.constantFrom('workspace', 'task', 'mission'), steps, (scope, used_) => {
      let budget = inPeriod('day', NOON, {
        ...{ scope, scopeKey: scope === 'workspace' ? scope : `${scope}:1` },
        ...{ scopeId: scope === 'workspace' ? null : 'x', maxUsd: '10', maxTokens: 1_000 },
      })
      let source = aSource()
      let now = NOON
      let warnings = 0
      for (const [tokens, cents] of used_) {
        now += 3_600_000
        const totals = source.booked.opus ?? used(0, '0')
        const models = {
          opus: used(
            Math.max(0, totals.outputTokens + tokens),
            sumOfDollars(
              totals.costUsd,
              `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`,
            ),
          ),
        }
        const booked = book(source, { number: source.number + 1, isWhole: true, models }, now)
        if (!booked) continue
        source = booked.source
        const after = chargeAll([budget], booked, { reservation: null, isFinal: false, timeZone: ZONE, now })
        const told = after.events.map(({ type }) => type)
        const renewedAt = told.indexOf('budget_renewed')
        if (renewedAt >= 0) warnings = 0
        warnings += told.filter((type) => /budget_warning$/.test(type)).length
        budget = after.budgets[0]!
        if (whyBlocked(budget) === 'spent') expect(warnings).toBe(1)
      }
    }),
    { numRuns: rounds(200, 20_000) },
  )
})

describe('a budget tells people', () => {
  const tellsAt = (before: Partial<BudgetRecord>, usd: string) =>
    budgetEvents(charge([aBudget({ maxUsd: '10', ...before })], { opus: used(1, usd) }).events)

  test('at 90 %, once a period', () => {
    expect(tellsAt({}, '8.99999')).toEqual([])
    expect(tellsAt({}, '9')).toEqual(['budget_warning'])
    expect(tellsAt({ consumedUsd: '9', warnedAt: 1 }, '0.9')).toEqual([])
    const old = inPeriod('day', NOON, { maxUsd: '1', consumedUsd: '1', warnedAt: 1, exceededAt: 1 })
    const next = charge([old], { opus: used(1, '0.9') }, { now: old.periodEnd! })
    expect(budgetEvents(next.events)).toContain('budget_warning')
  })

  test('when it is spent, once, and never without the warning', () => {
    expect(tellsAt({}, '10')).toEqual(['budget_warning', 'budget_exceeded'])
    expect(tellsAt({ consumedUsd: '9', warnedAt: 1 }, '1')).toEqual(['budget_exceeded'])
    expect(tellsAt({ consumedUsd: '10', warnedAt: 1, exceededAt: 1 }, '5')).toEqual([])
  })

  test('by whichever of tokens and dollars is used more', () => {
    const both = aBudget({ maxUsd: '10', maxTokens: 100 })
    const { events } = charge([both], { opus: used(95, '0.1') })
    expect(events.find(({ type }) => type === 'budget_warning')?.payload).toMatchObject({
      ...{ percentUsed: 95, consumedUsd: '0.1', maxUsd: '10', consumedTokens: 95, maxTokens: 100 },
    })
  })
})

describe('a model without a price under a budget in dollars', () => {
  const models = { mystery: used(10) }
  // What a run cost is known at its end.
  const blockedBy = (more: Partial<BudgetRecord>, isFinal = true) =>
    charge([aBudget({ maxUsd: '1', ...more })], models, { isFinal })

  test.each(['ask', 'stop'] as const)('blocks it where it is to %s, and is said once', (onUnknownPrice) => {
    const { budgets, events } = blockedBy({ onUnknownPrice })
    expect(budgets[0]!.unknownModel).toBe('mystery')
    expect(events.find(({ type }) => type === 'budget_exceeded')?.payload).toMatchObject({
      ...{ reason: 'unknown_price', model: 'mystery' },
    })
    const again = charge(budgets, { other: used(10) }, { isFinal: true })
    expect(budgetEvents(again.events)).toEqual([])
  })

  test('is no question while its run works: its program may say at its end what it cost', () => {
    expect(blockedBy({}, false).budgets[0]!.unknownModel).toBeNull()
  })

  test('works on where that is allowed, where the model is, and under a budget in tokens', () => {
    expect(blockedBy({ onUnknownPrice: 'allow' }).budgets[0]!.unknownModel).toBeNull()
    expect(blockedBy({ allowedModels: ['mystery'] }).budgets[0]!.unknownModel).toBeNull()
    expect(blockedBy({ maxUsd: null, maxTokens: 1_000 }).budgets[0]!.unknownModel).toBeNull()
  })

  test('is not meant where it used nothing', () => {
    const nothing = book(aSource(), { number: 1, isWhole: true, models: { mystery: used(0) } }, NOON)
    const context = { reservation: null, isFinal: false, timeZone: ZONE, now: NOON }
    const [budget] = nothing ? chargeAll([aBudget({ maxUsd: '1' })], nothing, context).budgets : [aBudget()]
    expect(budget!.unknownModel).toBeNull()
  })
})

describe('what a claim has reserved', () => {
  const budget = aBudget({ maxUsd: '10', maxTokens: 1_000, reservedUsd: '3', reservedTokens: 300 })
  const mine = aReservation([budget], { tokens: 100, usd: '1' })

  test('becomes what it used', () => {
    const { budgets, reservation } = charge([budget], { opus: used(40, '0.25') }, { reservation: mine })
    expect(budgets[0]).toMatchObject({
      ...{ consumedTokens: 40, consumedUsd: '0.25', reservedTokens: 260, reservedUsd: '2.75' },
    })
    expect(reservation).toMatchObject({ tokens: 60, usd: '0.75' })
  })

  test('is taken again when it is used up, as far as all of its budgets have it', () => {
    const small = aBudget({ budgetId: 'small', maxTokens: 230, reservedTokens: 100 })
    const both = { ...mine, budgetIds: [budget.budgetId, 'small'] }
    const { budgets, reservation } = charge(
      [budget, small],
      { opus: used(150, '0.5') },
      { reservation: both },
    )
    // 230 less the 150 that are used: 80 instead of 100.
    expect(reservation).toMatchObject({ tokens: 80, usd: '0.5', stepTokens: 100 })
    expect(budgets.map(({ reservedTokens }) => reservedTokens)).toEqual([280, 80])
  })

  test('is not taken again with its last report, nor from a budget under which nothing goes on', () => {
    const last = charge([budget], { opus: used(150, '2') }, { reservation: mine, isFinal: true })
    expect(last.reservation).toMatchObject({ tokens: 0, usd: '0' })
    const stopped = { ...budget, stoppedAt: 1, stoppedBy: 'key:test' }
    expect(charge([stopped], { opus: used(150, '2') }, { reservation: mine }).reservation).toMatchObject({
      ...{ tokens: 0, usd: '0' },
    })
  })

  test('is reserved only where it is: a budget that is newer has nothing of it', () => {
    const newer = aBudget({ budgetId: 'newer', maxTokens: 1_000, reservedTokens: 50 })
    const { budgets } = charge([budget, newer], { opus: used(40, '0.25') }, { reservation: mine })
    expect(budgets[1]).toMatchObject({ consumedTokens: 40, reservedTokens: 50 })
  })

  test('does not grow with a correction', () => {
    const source = report({ opus: used(100, '1') }).source
    const less = book(source, { number: 9, isWhole: true, models: { opus: used(40, '0.25') } }, NOON)!
    const { reservation, budgets } = chargeAll([{ ...budget, consumedTokens: 100, consumedUsd: '1' }], less, {
      ...{ reservation: mine, isFinal: false, timeZone: ZONE, now: NOON },
    })
    expect(reservation).toMatchObject({ tokens: 100, usd: '1' })
    expect(budgets[0]).toMatchObject({ consumedTokens: 40, reservedTokens: 300 })
  })
})

describe('room for a claim', () => {
  const estimate = (tokens: number, usd = '0'): Expected => ({ tokens, usd, isEstimate: true })
  const guess = (tokens: number, usd = '0'): Expected => ({ tokens, usd, isEstimate: false })
  const tight = aBudget({ maxTokens: 100, consumedTokens: 30, reservedTokens: 50 })

  test('a budget that is counted on through a batch is as if it was read again after each claim', () => {
    const budget = aBudget({
      maxTokens: 100,
      maxUsd: '2',
      consumedTokens: 30,
      consumedUsd: '0.7',
      isPaced: true,
    })
    const taken = [counted({ tokens: 20, usd: '0.000000000001' }), counted({ tokens: 60, usd: '1.5' })]
    const on = taken.reduce(withReserved, countedBudget(budget))
    const again = { ...budget, reservedTokens: 80, reservedUsd: '1.500000000001' }
    expect(on).toEqual(countedBudget(again))
  })

  test('an estimate is reserved whole, or it waits for others, or a person is asked', () => {
    expect(roomIn([tight], estimate(20))).toEqual({ kind: 'reserve', amount: { tokens: 20, usd: '0' } })
    expect(roomIn([tight], estimate(21))).toMatchObject({ kind: 'reserved' })
    expect(roomIn([tight], estimate(70))).toMatchObject({ kind: 'reserved' })
    expect(roomIn([tight], estimate(71))).toMatchObject({ kind: 'too_much' })
  })

  test('a guess is cut to what is left, and waits only at zero', () => {
    expect(roomIn([tight], guess(5_000, '9'))).toEqual({ kind: 'reserve', amount: { tokens: 20, usd: '9' } })
    const full = { ...tight, reservedTokens: 70 }
    expect(roomIn([full], guess(1))).toMatchObject({ kind: 'reserved', budget: full })
  })

  test('nothing begins under one that is spent, stopped or has a model without a price, whatever the others say', () => {
    const open = aBudget({ budgetId: 'open' })
    const spent = aBudget({ maxUsd: '1', consumedUsd: '1' })
    expect(roomIn([open, spent], guess(0))).toMatchObject({ kind: 'blocked', why: 'spent' })
    expect(roomIn([aBudget({ maxUsd: '0' })], guess(0))).toMatchObject({ kind: 'blocked', why: 'spent' })
    const stopped = aBudget({ stoppedAt: 1, stoppedBy: 'key:test' })
    expect(roomIn([open, stopped], estimate(0))).toMatchObject({ kind: 'blocked', why: 'stopped' })
    const unknown = aBudget({ maxUsd: '1', unknownModel: 'mystery' })
    expect(roomIn([open, unknown], guess(0))).toMatchObject({ kind: 'blocked', why: 'unknown_price' })
  })

  test('all budgets must have it: the smallest counts, of tokens and dollars apart', () => {
    const budgets = [
      aBudget({ budgetId: 'a', maxUsd: '2' }),
      aBudget({ budgetId: 'b', maxTokens: 50, maxUsd: '3' }),
    ]
    expect(roomIn(budgets, guess(1_000, '5'))).toEqual({ kind: 'reserve', amount: { tokens: 50, usd: '2' } })
  })
})

/** Claims and reports in any order under nested budgets, decided by the rules alone. */
class Model {
  budgets: BudgetRecord[]
  readonly held = new Map<number, { reservation: Reservation; source: UsageSource; said: [number, bigint] }>()

  constructor(limits: readonly { maxTokens: number | null; maxUsd: string | null }[]) {
    this.budgets = limits.map((limit, i) => aBudget({ budgetId: `budget-${i}`, ...limit }))
  }

  claim(holder: number, expected: Expected): void {
    if (this.held.has(holder)) return
    const room = roomIn(this.budgets, expected)
    if (room.kind !== 'reserve') return
    const { tokens, usd } = room.amount
    this.budgets = this.budgets.map((one) => ({
      ...one,
      reservedTokens: one.reservedTokens + tokens,
      reservedUsd: sumOfDollars(one.reservedUsd, usd),
    }))
    const reservation = aReservation(this.budgets, { tokens, usd })
    this.held.set(holder, { reservation, source: aSource({ generation: holder + 1 }), said: [0, 0n] })
    this.expectWithinLimits({ tokens: tokens > 0, usd: picosOf(usd) > 0n })
  }

  report(holder: number, tokens: number, picos: bigint, isFinal: boolean): void {
    const mine = this.held.get(holder)
    if (!mine) return
    const said: [number, bigint] = [mine.said[0] + tokens, mine.said[1] + picos]
    const models = { opus: used(said[0], textOfPicos(said[1])) }
    const booked = book(mine.source, { number: mine.source.number + 1, isWhole: true, models }, NOON)!
    const before = mine.reservation
    const charged = chargeAll(this.budgets, booked, {
      reservation: before,
      isFinal,
      timeZone: ZONE,
      now: NOON,
    })
    this.budgets = charged.budgets
    const after = charged.reservation!
    this.held.set(holder, { reservation: after, source: booked.source, said })
    const freed = picosOf(before.usd) < picos ? picosOf(before.usd) : picos
    this.expectWithinLimits({
      tokens: after.tokens > Math.max(0, before.tokens - tokens),
      usd: picosOf(after.usd) > picosOf(before.usd) - freed,
    })
  }

  end(holder: number): void {
    const mine = this.held.get(holder)
    if (!mine) return
    const { tokens, usd } = mine.reservation
    this.held.delete(holder)
    this.budgets = this.budgets.map((one) => ({
      ...one,
      reservedTokens: one.reservedTokens - tokens,
      reservedUsd: lessDollars(one.reservedUsd, usd),
    }))
  }

  /** Where some of it was reserved. Reports are booked in full: with them, a budget may have more. */
  expectWithinLimits(reserved: { tokens: boolean; usd: boolean }): void {
    for (const { maxTokens, maxUsd, ...one } of this.budgets) {
      if (maxTokens !== null && reserved.tokens)
        expect(one.consumedTokens + one.reservedTokens).toBeLessThanOrEqual(maxTokens)
      if (maxUsd !== null && reserved.usd)
        expect(picosOf(one.consumedUsd) + picosOf(one.reservedUsd) <= picosOf(maxUsd)).toBe(true)
    }
  }

  expectReservedIsHeld(): void {
    const held = [...this.held.values()].map(({ reservation }) => reservation)
    for (const one of this.budgets) {
      expect(one.reservedTokens).toBe(held.reduce((all, { tokens }) => all + tokens, 0))
      expect(picosOf(one.reservedUsd)).toBe(held.reduce((all, { usd }) => all + picosOf(usd), 0n))
    }
  }
}

test('consumed + reserved ≤ allocated whenever something is reserved, and reserved is what the holders have', () => {
  const aLimit = fc.record({
    maxTokens: fc.option(fc.integer({ min: 1, max: 500 })),
    maxUsd: fc.option(
      fc
        .integer({ min: 0, max: 500 })
        .map((cents) => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`),
    ),
  })
  const holders = fc.nat({ max: 5 })
  const amount = fc.nat({ max: 200 })
  const anAct = fc.oneof(
    fc.record({
      kind: fc.constant('claim' as const),
      holder: holders,
      tokens: amount,
      usd: amount,
      is: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant('report' as const),
      holder: holders,
      tokens: amount,
      usd: amount,
      is: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant('end' as const),
      holder: holders,
      tokens: amount,
      usd: amount,
      is: fc.boolean(),
    }),
  )
  const PICOS_OF_CENT = 10n ** 10n
  fc.assert(
    fc.property(
      fc.array(aLimit, { minLength: 1, maxLength: 3 }),
      fc.array(anAct, { maxLength: 40 }),
      (limits, acts) => {
        const model = new Model(limits)
        for (const { kind, holder, tokens, usd, is } of acts) {
          const picos = BigInt(usd) * PICOS_OF_CENT
          if (kind === 'claim') model.claim(holder, { tokens, usd: textOfPicos(picos), isEstimate: is })
          else if (kind === 'report') model.report(holder, tokens, picos, is)
          else model.end(holder)
          model.expectReservedIsHeld()
        }
      },
    ),
    { numRuns: rounds(300, 20_000) },
  )
})
