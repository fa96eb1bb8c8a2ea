import { expect, test } from 'vitest'
import { rounds } from '../support/rounds.ts'
import { describePlantedBugs } from './planted-bugs.ts'
import { MONEY_BUGS } from './runs/money.ts'
import { reportOfRuns, runSeedOfRuns } from './runs/run.ts'

/** Agents that spend under budgets, on nodes that die: the ledger, what is reserved, and what stops. */

const SEEDS = rounds(8, 250)

test(`${SEEDS} seeds break no invariant, and they reach what they are to show`, async () => {
  const seen = new Map<string, number>()
  const saw = (what: string, count = 1) => seen.set(what, (seen.get(what) ?? 0) + count)
  for (let seed = 1; seed <= SEEDS; seed++) {
    const outcome = await runSeedOfRuns(seed, { money: true })
    expect(outcome.broken, reportOfRuns(outcome)).toBeNull()
    const { world } = outcome
    const { runs, usageRows, events } = world.memory.whole(world.workspace)
    for (const { status, errorCode } of runs.values()) saw(errorCode ?? status)
    for (const { type } of events) if (/^(budget|task_budget)_/.test(type)) saw(type)
    saw('rows', usageRows.length)
    saw('corrections', usageRows.filter(({ outputTokens }) => outputTokens < 0).length)
    for (const [fault, count] of world.coverage.faults) saw(fault, count)
  }
  const told = [
    'budget_renewed',
    'budget_warning',
    'budget_exceeded',
    'budget_increased',
    'budget_stopped',
    'task_budget_exceeded',
  ]
  for (const what of [...told, 'budget_blocked', 'rows', 'control_plane_restart', 'node died'])
    expect(seen.get(what) ?? 0, what).toBeGreaterThan(0)
  expect(seen.get('budget_recounted'), 'no counter was ever wrong').toBeUndefined()
}, 600_000)

test('the same seed gives the same run', async () => {
  const [first, again] = [await runSeedOfRuns(5, { money: true }), await runSeedOfRuns(5, { money: true })]
  expect(again.hash).toBe(first.hash)
})

describePlantedBugs(MONEY_BUGS, (seed, { bug }) => runSeedOfRuns(seed, { money: bug }), 40)
