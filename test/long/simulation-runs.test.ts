import { expect, test } from 'vitest'
import { reportOfRuns, runSeedOfRuns } from '../simulation/runs/run.ts'

const SEEDS = 1_000

test(`${SEEDS} seeds with runs break no invariant`, async () => {
  for (let seed = 1_001; seed <= 1_000 + SEEDS; seed++) {
    const outcome = await runSeedOfRuns(seed)
    expect(outcome.broken, reportOfRuns(outcome)).toBeNull()
  }
}, 3_600_000)
