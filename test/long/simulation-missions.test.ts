import { test } from 'vitest'
import { expectCleanSeeds } from '../simulation/all-cores.ts'

const SEEDS = 5_000

test(`${SEEDS} seeds with missions break no invariant`, async () => {
  await expectCleanSeeds('test/simulation/missions/cli.ts', SEEDS, 500)
}, 3_600_000)
