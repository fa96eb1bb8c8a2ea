import { describe, expect, test } from 'vitest'
import { BUGS } from './bugs.ts'
import { BUG_NAMES, notice, RARE_BUGS } from './noticed.ts'
import { type Outcome, report, runSeed } from './run.ts'

/** More of them, and what they cover: test/long/simulation.test.ts. */
const SEEDS = 12
const LONG = 600_000

/** How many of them run a second time, and how they ended the first time. */
const TWICE = 4
const first: Outcome[] = []

test(`whatever goes wrong, every invariant of invariants/ holds after every step of ${SEEDS} runs`, {
  timeout: LONG,
}, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const outcome = await runSeed(seed)
    if (outcome.broken) expect.fail(report(outcome))
    if (seed <= TWICE) first.push(outcome)
  }
})

test('a seed is a run: a second time it leaves the same trace', { timeout: LONG }, async () => {
  expect(first).toHaveLength(TWICE)
  for (const [i, outcome] of first.entries()) expect(await runSeed(i + 1)).toEqual(outcome)
})

test('different seeds are different runs', () => {
  expect(new Set(first.map(({ hash }) => hash)).size).toBe(TWICE)
})

describe('a planted bug is noticed', () => {
  for (const name of BUG_NAMES.filter((name) => !RARE_BUGS.includes(name)))
    test(`${name}: ${BUGS[name].says}`, { timeout: LONG }, () => notice(name))
})
