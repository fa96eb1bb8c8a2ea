import { defineConfig } from 'vitest/config'

/** `npm run test:long`: more seeds, more crashes, more versions of the databases. The same claims, tried for longer. */
export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts', 'test/support/browser/setup.ts'],
    include: ['test/long/*.test.ts'],
    // Races and properties that `npm test` tries a few times: test/support/rounds.ts.
    env: { BATON_TEST_ROUNDS: 'many' },
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
})
