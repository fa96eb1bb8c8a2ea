import { describe, expect, test } from 'vitest'
import type { BudgetRecord } from '../../../src/kinds/budget/record.ts'
import { whyBlocked } from '../../../src/kinds/budget/rules/room.ts'
import type { BudgetCommand, BudgetSettings } from '../../../src/kinds/budget/rules.ts'
import { aBudget, at, budgetEvents, counted, decided, inPeriod, NOON, ZONE } from '../../support/budgets.ts'

/** What people and time do to a budget. */

const HOUR = 3_600_000
const SETTINGS: BudgetSettings = {
  ...{ maxUsd: '10', maxTokens: null, countNotional: false, onUnknownPrice: 'ask', isPaced: false },
}
const creating = (more: Partial<Extract<BudgetCommand, { kind: 'create' }>> = {}): BudgetCommand => ({
  ...{ kind: 'create', scope: 'workspace', scopeKey: 'workspace', scopeId: null, period: 'none' },
  ...{ ...SETTINGS, ...more },
})
const setting = (set: Partial<BudgetSettings>, ifVersion: number | null = null): BudgetCommand => ({
  ...{ kind: 'update', ifVersion, set },
})
/** What is left after a command that is not refused. */
function changed(before: BudgetRecord, command: BudgetCommand, more: Parameters<typeof decided>[2] = {}) {
  const { refusal, record, events, others } = decided(before, command, more)
  expect(refusal).toBeNull()
  return { record: record!, told: budgetEvents(events), events, others }
}

describe('a budget that is set', () => {
  test('begins with the period of now; of missions and tasks with all they ever used', () => {
    const daily = decided(null, creating({ period: 'day' }))
    expect(daily.record).toMatchObject({
      ...{ periodStart: at('2026-05-12T22:00:00Z'), periodEnd: at('2026-05-13T22:00:00Z') },
      ...{ consumedUsd: '0', reservedTokens: 0, version: 1, countDueAt: NOON, createdBy: 'key:test' },
    })
    expect(decided(null, creating()).record).toMatchObject({ periodStart: NOON, periodEnd: null })
    for (const scope of ['mission', 'task'] as const)
      expect(decided(null, creating({ scope })).record).toMatchObject({ periodStart: 0 })
  })

  test('is one for its scope and period', () => {
    const again = decided(aBudget(), creating())
    expect(again).toMatchObject({ refusal: { code: 'ALREADY_EXISTS' }, events: [], record: aBudget() })
  })
})

describe('another limit', () => {
  const spent = aBudget({ maxUsd: '10', consumedUsd: '10', warnedAt: 1, exceededAt: 1 })

  test('below what is consumed blocks at once, with the warning and the word that it is spent', () => {
    const { record, told } = changed(aBudget({ maxUsd: '10', consumedUsd: '5' }), setting({ maxUsd: '4.99' }))
    expect(whyBlocked(record)).toBe('spent')
    expect(record).toMatchObject({ warnedAt: NOON, exceededAt: NOON, version: 2 })
    expect(told).toEqual(['budget_changed', 'budget_warning', 'budget_exceeded'])
  })

  test('that is higher opens it again, and tells old and new, by whom', () => {
    const { record, told, events } = changed(spent, setting({ maxUsd: '20' }))
    expect(whyBlocked(record)).toBeNull()
    expect(record).toMatchObject({ warnedAt: null, exceededAt: null, consumedUsd: '10' })
    expect(told).toEqual(['budget_increased'])
    expect(events.find(({ type }) => type === 'budget_increased')?.payload).toMatchObject({
      ...{ oldUsd: '10', newUsd: '20', oldTokens: null, newTokens: null, by: 'key:test' },
    })
  })

  test('that is higher and still too low changes nothing for who waits, and says no more that it is spent', () => {
    const { record, told } = changed({ ...spent, consumedUsd: '30' }, setting({ maxUsd: '20' }))
    expect(whyBlocked(record)).toBe('spent')
    expect(told).toEqual(['budget_increased'])
  })

  test('that is hardly higher warns again at once', () => {
    expect(changed(spent, setting({ maxUsd: '11' })).told).toEqual(['budget_increased', 'budget_warning'])
  })

  test('that is none opens it, also where only tokens were spent', () => {
    const tokens = aBudget({ maxUsd: '10', maxTokens: 5, consumedTokens: 9, exceededAt: 1, warnedAt: 1 })
    const { record, told } = changed(tokens, setting({ maxTokens: null }))
    expect(whyBlocked(record)).toBeNull()
    expect(told).toEqual(['budget_increased'])
  })

  test('of tokens does not open one whose dollars are spent', () => {
    const both = { ...spent, maxTokens: 5, consumedTokens: 9 }
    expect(whyBlocked(changed(both, setting({ maxTokens: 100 })).record)).toBe('spent')
  })

  test('is for the version that was read', () => {
    expect(decided(spent, setting({ maxUsd: '20' }, 1)).refusal).toBeNull()
    expect(decided(spent, setting({ maxUsd: '20' }, 2))).toMatchObject({
      ...{ refusal: { code: 'VERSION_MISMATCH' }, events: [], record: spent },
    })
  })

  test('is of the period of now: what was spent in the last one blocks nothing', () => {
    const old = inPeriod('day', NOON, { maxUsd: '10', consumedUsd: '10', exceededAt: 1, warnedAt: 1 })
    const { record, told } = changed(old, setting({ maxUsd: '5' }), { now: old.periodEnd! })
    expect(record).toMatchObject({ consumedUsd: '0', periodStart: old.periodEnd, exceededAt: null })
    expect(told).toEqual(['budget_renewed', 'budget_changed'])
  })
})

describe('a model without a price', () => {
  const waiting = aBudget({ maxUsd: '10', unknownModel: 'mystery' })

  test('works on when a person allows it, and the answer is kept', () => {
    const { record } = changed(waiting, { kind: 'allowModel', model: 'mystery' })
    expect(record).toMatchObject({ unknownModel: null, allowedModels: ['mystery'] })
    expect(whyBlocked(record)).toBeNull()
    expect(changed(record, { kind: 'allowModel', model: 'mystery' }).record.allowedModels).toEqual([
      'mystery',
    ])
  })

  test('is not allowed by allowing another one', () => {
    expect(changed(waiting, { kind: 'allowModel', model: 'other' }).record.unknownModel).toBe('mystery')
  })

  test('works on where all are allowed, and where dollars have no limit any more', () => {
    expect(whyBlocked(changed(waiting, setting({ onUnknownPrice: 'allow' })).record)).toBeNull()
    expect(whyBlocked(changed(waiting, setting({ maxUsd: null, maxTokens: 5 })).record)).toBeNull()
    expect(whyBlocked(changed(waiting, setting({ maxUsd: '100' })).record)).toBe('unknown_price')
  })
})

describe('a stop by a person', () => {
  const open = aBudget({ maxUsd: '10' })

  test('stops whatever is left, until it is taken back; each is said once', () => {
    const stopped = changed(open, { kind: 'stop', reason: 'too dear' })
    expect(whyBlocked(stopped.record)).toBe('stopped')
    expect(stopped.told).toEqual(['budget_stopped'])
    expect(changed(stopped.record, { kind: 'stop', reason: null })).toMatchObject({
      ...{ told: [], record: stopped.record },
    })
    const released = changed(stopped.record, { kind: 'release' })
    expect(whyBlocked(released.record)).toBeNull()
    expect(released.told).toEqual(['budget_released'])
    expect(changed(released.record, { kind: 'release' }).told).toEqual([])
  })

  test('stays through a raise and a new period', () => {
    const { record } = changed(open, { kind: 'stop', reason: null })
    expect(whyBlocked(changed(record, setting({ maxUsd: '100' })).record)).toBe('stopped')
    const daily = inPeriod('day', NOON, { stoppedAt: 1, stoppedBy: 'key:test' })
    expect(whyBlocked(changed(daily, { kind: 'elapse' }, { now: daily.periodEnd! }).record)).toBe('stopped')
  })
})

describe('an amount that is moved', () => {
  const from = aBudget({ budgetId: 'from', maxUsd: '10', consumedUsd: '2', reservedUsd: '3', maxTokens: 100 })
  const to = aBudget({ budgetId: 'to', maxUsd: '1', consumedUsd: '1', exceededAt: 1, warnedAt: 1 })
  const other = (budgetId: string) => [from, to].find((one) => one.budgetId === budgetId)
  const moving = (usd: string | null, tokens: number | null = null, target = 'to'): BudgetCommand => ({
    ...{ kind: 'move', to: target, usd, tokens },
  })

  test('is gone here and there in one act, and opens what it is moved to', () => {
    const { record, others, told } = changed(from, moving('4'), { other })
    expect(record).toMatchObject({ maxUsd: '6', version: 2 })
    expect(others).toMatchObject([{ budgetId: 'to', maxUsd: '5', exceededAt: null, version: 2 }])
    expect(told).toContain('budget_moved')
    expect(told).toContain('budget_increased')
  })

  test('is at most what is neither used nor reserved', () => {
    expect(changed(from, moving('5'), { other }).record.maxUsd).toBe('5')
    expect(decided(from, moving('5.000000001'), { other })).toMatchObject({
      ...{ refusal: { code: 'VALIDATION_FAILED' }, record: from, others: [] },
    })
  })

  test.each([
    ['to itself', moving('1', null, 'from')],
    ['to one that is not there', moving('1', null, 'nobody')],
    ['of tokens where the other one has no limit in tokens', moving(null, 5)],
    ['of more tokens than there are', moving(null, 101)],
  ])('is refused %s, and nothing changes', (_what, command) => {
    const decision = decided(from, command, { other })
    expect(decision.refusal?.code).toBe('VALIDATION_FAILED')
    expect(decision).toMatchObject({ record: from, others: [], events: [] })
  })

  test('of all tokens is refused: a budget keeps one', () => {
    const counts = { ...to, maxTokens: 1 }
    const refusal = decided(from, moving(null, 100), { other: () => counts }).refusal
    expect(refusal?.code).toBe('VALIDATION_FAILED')
    expect(changed(from, moving(null, 99), { other: () => counts }).others[0]).toMatchObject({
      maxTokens: 100,
    })
  })

  test('goes to the period of now of the other one', () => {
    const old = inPeriod('day', NOON, { budgetId: 'old', maxUsd: '1', consumedUsd: '1', exceededAt: 1 })
    const { others } = changed(from, moving('1', null, 'old'), { other: () => old, now: old.periodEnd! })
    expect(others[0]).toMatchObject({ maxUsd: '2', consumedUsd: '0', periodStart: old.periodEnd })
  })
})

test('a budget that is removed says so, and one that is not there is refused', () => {
  const gone = decided(aBudget({ maxUsd: '1', consumedUsd: '1' }), { kind: 'remove' })
  expect(gone).toMatchObject({ refusal: null, record: null })
  expect(budgetEvents(gone.events)).toEqual(['budget_changed'])
  expect(decided(null, { kind: 'remove' }).refusal?.code).toBe('NOT_FOUND')
})

describe('a comparison with the ledger', () => {
  const old = NOON - 10 * HOUR
  const wrong = aBudget({
    ...{ maxUsd: '10', consumedUsd: '1', consumedTokens: 5, countDueAt: NOON },
    ...{ reservedTokens: 40, reservedUsd: '0.5', createdAt: old },
  })
  const compared = (budget: BudgetRecord, more: Parameters<typeof counted>[1], now = NOON) =>
    changed(budget, { kind: 'elapse' }, { counted: counted(budget, more), now })

  test('corrects it, and raises an alarm', () => {
    const { record, told } = compared(wrong, { usd: '2', tokens: 7 })
    expect(record).toMatchObject({ consumedUsd: '2', consumedTokens: 7, countDueAt: NOON + HOUR })
    expect(told).toEqual(['budget_recounted'])
  })

  test('corrects what is reserved, too', () => {
    const { record, told } = compared(wrong, { usd: '1', tokens: 5, reservedTokens: 10, reservedUsd: '0' })
    expect(record).toMatchObject({ reservedTokens: 10, reservedUsd: '0' })
    expect(told).toEqual(['budget_recounted'])
  })

  test('says nothing where it is right, and nothing of one that is new', () => {
    expect(compared(wrong, { usd: '1.000', tokens: 5 }).told).toEqual([])
    const fresh = { ...wrong, createdAt: NOON }
    expect(compared(fresh, { usd: '2', tokens: 7 })).toMatchObject({ told: [], record: { consumedUsd: '2' } })
  })

  test('counts what is not paid by use only where that is chosen', () => {
    const ledger = { usd: '1', notionalUsd: '3', tokens: 5 }
    expect(compared(wrong, ledger).record.consumedUsd).toBe('1')
    expect(compared({ ...wrong, countNotional: true }, ledger).record.consumedUsd).toBe('4')
  })

  test('that finds it spent says so, and one that finds it open lets it warn again', () => {
    expect(compared(wrong, { usd: '10' }).told).toEqual([
      'budget_recounted',
      'budget_warning',
      'budget_exceeded',
    ])
    const spent = { ...wrong, consumedUsd: '10', warnedAt: 1, exceededAt: 1 }
    expect(whyBlocked(compared(spent, { usd: '3', tokens: 5 }).record)).toBeNull()
    expect(compared(spent, { usd: '3', tokens: 5 }).record.exceededAt).toBeNull()
  })

  test('is not made before it is due, nor from a negative sum', () => {
    const later = { ...wrong, countDueAt: NOON + 1 }
    expect(compared(later, { usd: '9' }).record.consumedUsd).toBe('1')
    expect(compared(wrong, { usd: '-3', tokens: -7 }).record).toMatchObject({
      ...{ consumedUsd: '0', consumedTokens: 0 },
    })
  })

  test('of the period that has just ended does not count in the new one', () => {
    const daily = inPeriod('day', NOON, { maxUsd: '10', consumedUsd: '10', countDueAt: NOON, createdAt: old })
    const turn = { counted: counted(daily, { usd: '10', tokens: 99 }), now: daily.periodEnd! + HOUR }
    const { record, told } = changed(daily, { kind: 'elapse' }, turn)
    expect(record).toMatchObject({ consumedUsd: '0', consumedTokens: 0, periodStart: daily.periodEnd })
    expect(told).not.toContain('budget_exceeded')
    // The next one is made at once, from the rows of its own period.
    expect(record.countDueAt).toBeLessThanOrEqual(turn.now)
    const counting = { counted: counted(record, { usd: '1', tokens: 3 }), now: turn.now }
    expect(changed(record, { kind: 'elapse' }, counting).record).toMatchObject({ consumedUsd: '1' })
  })
})

test('a period turns once, however often time passes', () => {
  const daily = inPeriod('day', NOON, { maxUsd: '10', consumedUsd: '9', warnedAt: 1 })
  const first = changed(daily, { kind: 'elapse' }, { now: daily.periodEnd! }).record
  const usedSince = { ...first, consumedUsd: '3' }
  const again = changed(usedSince, { kind: 'elapse' }, { now: daily.periodEnd! + HOUR, timeZone: ZONE })
  expect(again.record).toMatchObject({ consumedUsd: '3', periodStart: daily.periodEnd })
})
