import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore, type StoreUnderTest } from '../support/stores.ts'
import type { RealStore } from './backing.ts'
import { type Outcome, report, runSeed } from './run.ts'

const LONG = 240_000
/** The shortest of the first. */
const TWICE = 3
const kinds = (Object.keys(openStore) as (keyof typeof openStore)[]).filter((kind) => kind !== 'memory')

/** The simulation with its state in real stores. */
export function simulateOnStores(seeds: number): void {
  describe.each(kinds)('whatever goes wrong on %s', (kind) => {
    let under: StoreUnderTest
    let real: RealStore
    const outcomes = new Map<number, Outcome>()
    beforeAll(async () => {
      under = await openStore[kind]()
      real = { store: under.store, newWorkspace: (limits) => under.addWorkspace(limits) }
    })
    afterAll(() => under?.close())

    // A test for each: how long all of them take together depends on the machine and its load. One that is given up stops,
    // so that it does not slow down the next.
    test.for(Array.from({ length: seeds }, (_, i) => i + 1))(
      'every invariant of invariants/ holds after every step of run %i',
      { timeout: LONG },
      async (seed, { signal }) => {
        const outcome = await runSeed(seed, { real, signal })
        outcomes.set(seed, outcome)
        if (outcome.broken) expect.fail(report(outcome, { store: kind }))
      },
    )

    test('a seed is a run: a second time it leaves the same trace', { timeout: LONG }, async ({ signal }) => {
      const first = outcomes.get(TWICE)
      expect(first).toBeDefined()
      expect(await runSeed(TWICE, { real, signal })).toEqual(first)
    })
  })
}
