import { test } from 'vitest'
import { expectCleanSeeds } from '../simulation/all-cores.ts'

const SEEDS = 20_000

test(`${SEEDS} seeds with runs break no invariant`, async () => {
  await expectCleanSeeds('test/simulation/runs/cli.ts', SEEDS, 1_000)
}, 3_600_000)
