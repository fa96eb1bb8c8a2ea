import { describe, expect, test } from 'vitest'
import { about } from '../src/live/about.ts'
import type { LiveEvent } from '../src/live/card.ts'
import { inPageOrder } from '../src/pages/budgets/order.ts'
import {
  againstEstimate,
  everyDay,
  measureOf,
  mostOf,
  nameOfGroup,
  pageOfGroup,
  partsOf,
  type Usage,
  type UsageGroup,
} from '../src/pages/budgets/usage-words.ts'
import { aboutOf } from '../src/pages/events/event-words.ts'
import { bodyOf, inOrder, missingIn, NEW_PRICE, type Price } from '../src/pages/settings/price-words.ts'
import {
  amountsOf,
  amountWords,
  type Budget,
  limitProblems,
  type Projection,
  paceOf,
  stateOf,
} from '../src/things/budget/budget.ts'
import { canTake } from '../src/things/budget/move-amount.tsx'
import { raisedBy } from '../src/things/budget/raised.ts'
import { bodyOf as bodyOfTask, EMPTY_DRAFT, patchOf } from '../src/things/task/form/draft.ts'

/** Money as the pages say it. */

const NOW = Date.parse('2026-11-19T12:00:00Z')

const budget = (more: Partial<Budget> = {}): Budget => ({
  ...{ id: 'b', scope: 'workspace', scopeId: null, scopeName: null, period: 'none', isSimulated: false },
  ...{ periodStart: '2026-11-01T00:00:00Z', periodEnd: null, maxUsd: '50', consumedUsd: '18.2' },
  ...{ reservedUsd: '2.1', remainingUsd: '29.7', maxTokens: null, consumedTokens: 0, reservedTokens: 0 },
  ...{ remainingTokens: null, percentUsed: 36.4, state: 'open', blockedBecause: null, unknownModel: null },
  ...{ allowedModels: [], countNotional: false, onUnknownPrice: 'ask', isPaced: false, warnedAt: null },
  ...{ exceededAt: null, stoppedAt: null, stoppedBy: null, version: 1 },
  ...{ createdAt: '2026-11-01T00:00:00Z', updatedAt: '2026-11-01T00:00:00Z' },
  ...more,
})

describe('a budget', () => {
  test('says what is used, reserved and left of each limit, the nearer to its end first', () => {
    const both = budget({ maxTokens: 1_000, consumedTokens: 900, reservedTokens: 300 })
    const [tokens, usd] = amountsOf(both)
    expect([tokens!.unit, tokens!.usedPercent, tokens!.reservedPercent, tokens!.left]).toEqual([
      ...['tokens', 90, 10, '0'],
    ])
    expect([usd!.usedPercent, usd!.reservedPercent, usd!.left]).toEqual([36.4, 4.2, '29.7'])
    expect(amountWords(usd!)).toBe('$18.20 used, $2.10 reserved, of $50.00')
  })

  test('of little money is not 0, and one that used more than its limit is full', () => {
    const [little] = amountsOf(budget({ consumedUsd: '0.0138', reservedUsd: '0' }))
    expect(amountWords(little!)).toBe('1.4 ¢ used, of $50.00')
    const [over] = amountsOf(budget({ consumedUsd: '51.000000000001', reservedUsd: '0' }))
    expect([over!.usedPercent, over!.left]).toEqual([100, '0'])
  })

  test('says why work does not go on under it', () => {
    expect(stateOf(budget())).toEqual({ words: '36 % used', hue: 'wait', detail: null })
    expect(stateOf(budget({ state: 'warned', percentUsed: 91.25 }))).toMatchObject({
      ...{ words: '91 % used', hue: 'ask' },
    })
    const spent = { state: 'blocked', blockedBecause: 'spent' } as const
    expect(stateOf(budget(spent)).detail).toBe('Nothing begins until it is raised.')
    expect(stateOf(budget({ ...spent, periodEnd: '2026-11-20T00:00:00Z' })).detail).toBe(
      'Nothing begins until it is raised, or renewed.',
    )
    const stopped = budget({ state: 'blocked', blockedBecause: 'stopped', stoppedBy: 'key:anna' })
    expect(stateOf(stopped)).toEqual({
      words: 'Stopped',
      hue: 'held',
      detail: 'anna stopped all spending.',
    })
    const unknown = { state: 'blocked', blockedBecause: 'unknown_price', unknownModel: 'x-1' } as const
    expect(stateOf(budget(unknown)).detail).toBe('x-1 has no price: allow it, or set its price.')
    expect(stateOf(budget({ ...unknown, onUnknownPrice: 'stop' })).detail).toBe('x-1 has no price.')
  })

  test('is in the order of the page: by scope, the stopped ones first, then those that have used most', () => {
    const all = [
      budget({ id: 'task', scope: 'task' }),
      budget({ id: 'little', scope: 'agent', percentUsed: 5 }),
      budget({ id: 'much', scope: 'agent', percentUsed: 80 }),
      budget({ id: 'asks', scope: 'agent', percentUsed: 1, state: 'blocked' }),
      budget({ id: 'all' }),
    ]
    expect(inPageOrder(all).map(({ id }) => id)).toEqual(['all', 'asks', 'much', 'little', 'task'])
  })

  test('gives a part to those that have a limit of the same kind, missions and tasks among them', () => {
    const from = budget({ id: 'from' })
    const tokens = budget({ id: 'tokens', maxUsd: null, maxTokens: 5 })
    const all = [from, budget({ id: 'usd', scope: 'agent' }), tokens, budget({ id: 'm', scope: 'mission' })]
    expect(canTake(from, all).map(({ id }) => id)).toEqual(['usd', 'm'])
    expect(canTake(budget({ id: 't', scope: 'task' }), all).map(({ id }) => id)).toEqual(['from', 'usd', 'm'])
  })

  test('is raised from what is used, where that is more than its limit', () => {
    const [over] = amountsOf(budget({ consumedUsd: '60.5' }))
    expect(raisedBy(2, over!)).toBe('121')
    const [tokens] = amountsOf(budget({ maxUsd: null, maxTokens: 999, consumedTokens: 1 }))
    expect(raisedBy(1.25, tokens!)).toBe('1249')
  })

  test('has limits in dollars as text and in whole tokens', () => {
    expect(limitProblems({ usd: '', tokens: '' })).toEqual({ usd: null, tokens: null })
    expect(limitProblems({ usd: '7.50', tokens: '12' })).toEqual({ usd: null, tokens: null })
    for (const usd of ['-1', '1e3', '0', '1.2345678901', '1,5'])
      expect(limitProblems({ usd, tokens: '' }).usd, usd).not.toBeNull()
    for (const tokens of ['1.5', '0', '-3', '1e6'])
      expect(limitProblems({ usd: '', tokens }).tokens, tokens).not.toBeNull()
  })
})

describe('the pace of a budget', () => {
  const projection = (more: Partial<Projection> = {}): Projection => ({
    ...{ budgetId: 'b', remainingUsd: '30', remainingTokens: null, dailyBurnUsd: '57.6' },
    ...{ dailyBurnTokens: 4_000, daysUntilExhaustion: 0.5, exhaustedAt: '2026-11-20T00:30:00Z' },
    ...{ periodEnd: '2026-11-23T00:00:00Z', recommendation: 'THROTTLE', isEnforced: false },
    ...more,
  })

  test('says when it is gone, and what follows', () => {
    const pace = paceOf(projection(), NOW)!
    expect(pace.pace).toBe('$2.40 an hour')
    expect(pace.end).toMatch(/^gone (Fri|today) \d\d:30$/)
    expect([pace.advice, pace.isTooFast]).toEqual(['Slow down: at this pace it ends too soon', true])
    expect(paceOf(projection({ isEnforced: true }), NOW)!.advice).toBe(
      'Slowed down: work is handed out so that it lasts',
    )
  })

  test('lasts when its period ends first, and when nothing is used', () => {
    const lasts = projection({ exhaustedAt: '2026-12-24T00:00:00Z', recommendation: 'CONTINUE' })
    expect(paceOf(lasts, NOW)).toMatchObject({
      ...{ end: 'lasts to the end of its period', advice: 'Continue: it lasts', isTooFast: false },
    })
    expect(paceOf(projection({ dailyBurnUsd: '0' }), NOW)).toBeNull()
  })

  test('of a budget in tokens is in tokens', () => {
    const tokens = projection({ remainingUsd: null, remainingTokens: 900, dailyBurnTokens: 48_000 })
    expect(paceOf(tokens, NOW)!.pace).toBe('2 k tokens an hour')
  })
})

const group = (more: Partial<UsageGroup> = {}): UsageGroup => ({
  ...{
    key: 'k',
    name: null,
    tokens: { input: 10, cachedInput: 5, cacheWrite: null, output: 5 },
    tokensUsed: 20,
    seconds: 0,
  },
  ...{ seconds: 1, costUsd: '1', notionalUsd: '0', runs: 1, runsOfUnknownCost: 0, estimatedTokens: null },
  ...{ estimatedTasks: null, tokensOfEstimated: null, savedUsd: null },
  ...more,
})

describe('what was used', () => {
  test('is compared in dollars where there are any, what is notional apart, else in tokens', () => {
    const [paid, notional] = [group({ costUsd: '3' }), group({ costUsd: '0', notionalUsd: '4.5' })]
    expect([measureOf(paid), measureOf(notional)]).toEqual(['usd', 'usd'])
    expect(partsOf('usd', notional)).toEqual([0, 4.5])
    expect(mostOf('usd', [paid, notional])).toBe(4.5)
    const unknown = group({ costUsd: null, notionalUsd: null })
    expect([measureOf(unknown), partsOf('tokens', unknown)]).toEqual(['tokens', [20, 0]])
  })

  test('has every day of its window, also those without use', () => {
    const usage: Usage = {
      ...{ groupBy: 'day', from: '2026-10-24T10:00:00Z', to: '2026-10-27T10:00:00Z' },
      ...{ timeZone: 'Europe/Berlin', total: group(), items: [group({ key: '2026-10-26' })] },
      ...{ groupsLeftOut: 0, savedUsd: null },
    }
    const days = everyDay(usage)
    expect(days.map(({ key, tokensUsed }) => [key, tokensUsed])).toEqual([
      ...[['2026-10-24', 0] as const, ['2026-10-25', 0] as const],
      ...[['2026-10-26', 20] as const, ['2026-10-27', 0] as const],
    ])
  })

  test('stands beside its estimate, of the tasks that have one', () => {
    expect(againstEstimate(group())).toBeNull()
    const of = (tokensOfEstimated: number) =>
      againstEstimate(group({ tokensUsed: 9_999, estimatedTokens: 100, tokensOfEstimated }))
    expect([of(118), of(82), of(100)]).toEqual(['+18 %', '−18 %', 'as estimated'])
  })

  test('leads to what it is about', () => {
    expect(nameOfGroup('mission', group({ key: null }))).toBe('No mission')
    expect(nameOfGroup('day', group({ key: '2026-11-02' }))).toBe('2 Nov')
    expect(nameOfGroup('agent', group({ key: 'dev-1', name: 'Ada' }))).toBe('Ada')
    expect((['mission', 'agent', 'model', 'taskType'] as const).map((by) => pageOfGroup(by, 'a b'))).toEqual([
      ...['/missions/a%20b', '/agents/a%20b', null, '/board?type=a%20b'],
    ])
    expect(pageOfGroup('project', null)).toBeNull()
  })
})

describe('prices of a workspace', () => {
  const price = (more: Partial<Price> = {}): Price => ({
    ...{ model: 'm', input: '3', cachedInput: '0.3', cacheWrite: null, cacheWrite1h: null, output: '15' },
    ...{ longContext: null, setBy: 'list', seenOn: '2026-10-01', source: 'a page' },
    ...more,
  })

  test('come before those of the list', () => {
    const all = [price({ model: 'a' }), price({ model: 'z', setBy: 'workspace' }), price({ model: 'b' })]
    expect(inOrder(all).map(({ model }) => model)).toEqual(['z', 'a', 'b'])
  })

  test('need input and output, and keep what long requests cost', () => {
    expect(missingIn(NEW_PRICE)).toBe('Name the model.')
    const draft = { ...NEW_PRICE, model: 'm', input: '3' }
    expect(missingIn(draft)).toBe('Input and output need a price.')
    expect(missingIn({ ...draft, output: 'much' })).toBe('Write dollars, such as 2.50.')
    expect(missingIn({ ...draft, output: '15' })).toBeNull()
    const longContext = { ...price(), fromTokens: 200_000 }
    expect(bodyOf({ ...draft, output: '15' }, price({ longContext }))).toEqual({
      ...{ input: '3', output: '15', cacheWrite: null, cacheWrite1h: null, longContext },
    })
  })
})

describe('events about money', () => {
  const event = (type: string, more: Partial<LiveEvent> = {}) =>
    ({ type, entityType: 'task', entityId: null, from: null, to: null, payload: {}, ...more }) as LiveEvent

  test('have budgets read again: use, runs, claims and changes, not progress and comments', () => {
    const follows = about.spending
    expect(
      [
        event('budget_warning', { entityType: 'budget' }),
        event('run_usage', { entityType: 'run' }),
        event('claim_usage'),
        event('run_finished', { entityType: 'run' }),
        event('task_assigned', { from: 'queued', to: 'assigned' }),
      ].map(follows),
    ).toEqual([true, true, true, true, true])
    expect([event('task_progress'), event('comment_added'), event('claim_renewed')].some(follows)).toBe(false)
  })

  test('are about a budget by the name of what it limits, and lead to it while it is there', () => {
    const of = (payload: Record<string, unknown>) =>
      aboutOf({ entityType: 'budget', entityId: 'b', taskId: null, missionId: null, runId: null, payload })
    expect(of({ scope: 'agent', scopeId: 'dev-1' })).toEqual({
      ...{ words: 'the budget of dev-1', to: '/budgets?budget=b' },
    })
    expect(of({ scope: 'workspace', scopeId: null }).words).toBe('the budget of the workspace')
    expect(of({ scope: 'project', scopeId: 'shop', change: 'removed' }).to).toBeNull()
  })
})

test('a task is sent with its budget, and only a budget that was changed is sent again', () => {
  const draft = { ...EMPTY_DRAFT, title: 'A', budgetUsd: '2.50', budgetTokens: '9000' }
  expect(bodyOfTask(draft).budget).toEqual({ maxUsd: '2.50', maxTokens: 9_000 })
  expect(bodyOfTask({ ...EMPTY_DRAFT, title: 'A' })).not.toHaveProperty('budget')
  const before = { ...EMPTY_DRAFT, title: 'A', budgetUsd: '2.50' }
  expect(patchOf(before, before)).not.toHaveProperty('budget')
  expect(patchOf(before, { ...before, budgetTokens: '7' }).budget).toEqual({ maxUsd: '2.50', maxTokens: 7 })
  expect(patchOf(before, { ...before, budgetUsd: '' }).budget).toBeNull()
})
