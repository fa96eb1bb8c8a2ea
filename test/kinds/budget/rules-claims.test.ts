import { expect, test } from 'vitest'
import { expectedOf, roomForClaim, type SeenBudgets } from '../../../src/kinds/budget/rules/claims.ts'
import { countedBudget } from '../../../src/kinds/budget/rules/room-for-claim.ts'
import { inPeriod } from '../../support/budgets.ts'

/** What a claim may begin under budgets that are paced. */

// The day of these budgets begins at midnight in Berlin, an hour before that of UTC.
const NOON = Date.parse('2026-11-19T12:00:00Z')
const SEEN: SeenBudgets = {
  ...{ budgets: [], timeZone: 'UTC', tasks: new Map(), typical: new Map() },
  agents: new Map([['dev', { model: null, isSimulated: false }]]),
}
const roomAt = (now: number, used: number, isPaced = true) =>
  roomForClaim(
    [countedBudget(inPeriod('day', NOON, { maxTokens: 1_000_000, consumedTokens: used, isPaced }))],
    expectedOf(SEEN, undefined, 'dev'),
    now,
  )

test('a paced budget hands out nothing until its period has caught up with what is used', () => {
  const [used, until] = [750_000, Date.parse('2026-11-19T17:00:00Z')]
  expect(roomAt(NOON, used)).toMatchObject({ kind: 'paced', until })
  expect(roomAt(until - 1, used)).toMatchObject({ kind: 'paced' })
  expect(roomAt(until, used)).toMatchObject({ kind: 'reserve' })
  expect(roomAt(NOON, 500_000)).toMatchObject({ kind: 'reserve' })
})

test('one that is not paced hands out work at once', () => {
  expect(roomAt(NOON, 750_000, false)).toMatchObject({ kind: 'reserve' })
})

test('one that is spent says so, paced or not', () => {
  expect(roomAt(NOON, 1_000_000)).toMatchObject({ kind: 'blocked', why: 'spent' })
})
