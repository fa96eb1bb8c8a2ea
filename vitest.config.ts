import { configDefaults, defineConfig } from 'vitest/config'

/**
 * Files that start no process and no server: rules, parsers, documents. They need nothing from one another's absence, so
 * they share the threads they run in, and what one has loaded the next need not load.
 */
const PURE = [
  'test/adapters-{parsers,registry}.test.ts',
  'test/config.test.ts',
  'test/core*.test.ts',
  'test/{docs,documents,tidy,remembering}.test.ts',
  'test/logs-settings.test.ts',
  'test/plans-*.test.ts',
  'test/simulation.test.ts',
]

export default defineConfig({
  test: {
    maxWorkers: 2,
    testTimeout: 60_000,
    // On a busy machine what is waited for comes late, but it comes.
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 120_000,
    projects: [
      {
        extends: true,
        test: { name: 'pure', include: PURE, pool: 'threads', isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'real',
          globalSetup: ['test/support/global-setup.ts'],
          sequence: { groupOrder: 1 },
          include: ['test/*.test.ts'],
          exclude: [...configDefaults.exclude, ...PURE],
          // Real servers, real signals: in processes. They share a server where a workspace of their own is enough.
          pool: 'forks',
          isolate: false,
        },
      },
    ],
  },
})
