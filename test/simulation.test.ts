import { describe, expect, test } from 'vitest'
import { BUGS } from './simulation/bugs.ts'
import { BUG_NAMES, notice, RARE_BUGS } from './simulation/noticed.ts'
import { report, runSeed } from './simulation/run.ts'

/** More of them, and what they cover: test/long/simulation.test.ts. */
const SEEDS = 300
const LONG = 600_000

test(`whatever goes wrong, every invariant of invariants/ holds after every step of ${SEEDS} runs`, {
  timeout: LONG,
}, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const outcome = await runSeed(seed)
    if (outcome.broken) expect.fail(report(outcome))
  }
})

test('a seed is a run: a second time it leaves the same trace', { timeout: LONG }, async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const first = await runSeed(seed)
    const second = await runSeed(seed)
    expect(second).toEqual(first)
  }
})

test('different seeds are different runs', async () => {
  const hashes = new Set<string>()
  for (let seed = 1; seed <= 10; seed++) hashes.add((await runSeed(seed)).hash)
  expect(hashes.size).toBe(10)
})

describe('a planted bug is noticed', () => {
  for (const name of BUG_NAMES.filter((name) => !RARE_BUGS.includes(name)))
    test(`${name}: ${BUGS[name].says}`, { timeout: LONG }, () => notice(name))
})
