import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RealStore } from './simulation/backing.ts'
import { report, runSeed } from './simulation/run.ts'
import { openStore, type StoreUnderTest } from './support/stores.ts'

const SEEDS = 20
const LONG = 240_000
const kinds = (Object.keys(openStore) as (keyof typeof openStore)[]).filter((kind) => kind !== 'memory')

describe.each(kinds)('whatever goes wrong on %s', (kind) => {
  let under: StoreUnderTest
  let real: RealStore
  beforeAll(async () => {
    under = await openStore[kind]()
    real = { store: under.store, newWorkspace: (limits) => under.addWorkspace(limits) }
  })
  afterAll(() => under?.close())

  test(`every sentence of invariants/ holds after every step of ${SEEDS} runs`, {
    timeout: LONG,
  }, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const outcome = await runSeed(seed, { real })
      if (outcome.broken) expect.fail(report(outcome, { store: kind }))
    }
  })

  test('a seed is a run: a second time it leaves the same trace', { timeout: LONG }, async () => {
    const [first, second] = [await runSeed(2, { real }), await runSeed(2, { real })]
    expect(second).toEqual(first)
  })
})
