import { expect, test } from 'vitest'
import { RunReport } from '../../../src/executor/report.ts'
import type { Timers } from '../../../src/executor/timers.ts'
import type { RunStore } from '../../../src/kernel/store/run-store.ts'
import type { RunsStep } from '../../../src/kinds/run/rules/step.ts'

test('the usage of a run is reported at once, then every five seconds at most, and only if there is more', async () => {
  let now = 0
  const timers: Timers = { now: () => now, after: () => () => {}, every: () => () => {}, random: () => 0 }
  const usageReported: boolean[] = []
  const store = {
    // Only a report of usage asks what the other runs of the task used.
    transact: async (_: number, { reads }: RunsStep<void>) =>
      void usageReported.push(reads.othersOf.length > 0),
  }
  const run = {
    workspaceId: 1,
    runId: 'r',
    agent: 'alpha',
    task: { id: 1, uuid: 't', generation: 1, attempt: 1, session: 's' },
  }
  const report = new RunReport(
    store as unknown as RunStore,
    run,
    { bill: async () => ({}), stop: () => {} },
    (error) => expect.unreachable(String(error)),
    timers,
  )
  const told = async (at: number, act: () => void) => {
    now = at
    act()
    await report.write()
    return usageReported.at(-1)
  }
  const uses = (inputTokens: number) => () => report.used({ inputTokens, outputTokens: 0 })
  expect(await told(0, uses(1))).toBe(true)
  expect(await told(4_999, uses(2))).toBe(false)
  // Usage that was not reported then comes with the next report, whatever that is about.
  expect(await told(5_000, () => report.status('reading', 'blue'))).toBe(true)
  expect(await told(20_000, () => report.status('writing', 'blue'))).toBe(false)
  expect(await told(20_001, uses(3))).toBe(true)
})
