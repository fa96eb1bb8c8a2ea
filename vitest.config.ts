import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { COMPILED, compiledSources } from './test/support/compiled-sources.ts'

/**
 * Files that start no process and no server: rules, parsers, documents. They do not need isolation, so they share the
 * threads they run in, and modules are loaded once.
 */
const PURE = [
  'test/adapters/{followed-files,live-counts,parsers,registry,sieve}.test.ts',
  'test/{docs/{bench-report,docs},documents/documents,tidy/tidy}.test.ts',
  'test/executor/excerpt.test.ts',
  'test/kernel/{combiner,commit-waiters,leader-lease,plain-kinds,step,task-as-stored,ttl-cache}.test.ts',
  'test/kinds/{event-filter,event-payloads,log}.test.ts',
  'test/kinds/*/rules*.test.ts',
  'test/kinds/mission/plan/!(http*).test.ts',
  'test/kinds/run/log-search.test.ts',
  'test/logs/settings.test.ts',
  'test/pure/*.test.ts',
  'test/queue/work-loop.test.ts',
  'test/simulation/{simulation,runs,missions,later,money}.test.ts',
  'test/start/config.test.ts',
  'test/transcript/*.test.ts',
  'test/views/timeline.test.ts',
]

/**
 * Each in a process of its own: files that move to another server than the others use, and run tests of other files there, and
 * files that change the clock or the timers of their process, in which the server of other files would stop.
 */
const ALONE = [
  'test/postgres/{distribution,event-writer,refusals}.test.ts',
  'test/{upkeep/rest,kinds/run/wakeups-limits}.test.ts',
]

/** Short files that take long. They start first, so that the run does not wait for them at the end. */
const SLOW =
  /\/(recovery\/\w+|executor\/work|hostile\/bodies|start\/start|server\/bad-input|simulation\/\w+|upkeep\/leadership-processes|postgres\/distribution|kinds\/(\w+\/(demo|recovery|restart(-around)?|runs(-[\w-]+)?)|run\/(acceptance|chains|crash|every-node|forgotten|outcomes|questions|shutdown))|browser\/(board|changes|inbox|pages|runs|states))\.test\.ts$/

/** One kind after the other, since a process is reused for files of its own kind only. First those that wait more than they work. */
const KINDS = ['alone', 'pure', 'web', 'real', 'browser']

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification) =>
      2 * KINDS.indexOf(project.name) + (SLOW.test(moduleId) ? 0 : 1)
    return (await super.sort(files)).sort((a, b) => place(a) - place(b))
  }
}

const COMMON = {
  // Limits only end what hangs. On a busy machine awaited events come late, but they come.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 120_000 } },
  server: { deps: { external: [COMPILED] } },
}
const plugins = [compiledSources()]

export default defineConfig({
  test: {
    // Once for the whole run: the projects do not inherit it.
    globalSetup: ['test/support/global-setup.ts'],
    // More than cores, on two: most of the time is waiting for real servers, processes and leases.
    maxWorkers: 5,
    sequence: { sequencer: SlowFirst },
    projects: [
      { plugins, test: { ...COMMON, name: 'pure', include: PURE, pool: 'threads', isolate: false } },
      {
        plugins,
        test: {
          ...COMMON,
          name: 'real',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, 'test/long/**', ...PURE, ...ALONE],
          // Real servers, real signals: in processes. They share a server where a workspace of their own is enough.
          pool: 'forks',
          isolate: false,
        },
      },
      // The web app without a browser.
      {
        plugins,
        test: { ...COMMON, name: 'web', include: ['web/test/*.test.ts'], pool: 'threads', isolate: false },
      },
      { plugins, test: { ...COMMON, name: 'alone', include: ALONE, pool: 'forks' } },
      {
        plugins,
        test: {
          ...COMMON,
          name: 'browser',
          include: ['web/test/browser/*.test.ts'],
          // Only a run with such tests builds the app and starts Chromium.
          globalSetup: ['test/support/browser/setup.ts'],
          pool: 'forks',
          isolate: false,
          // After all others, and fewer at a time: the browser itself keeps a core busy.
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
