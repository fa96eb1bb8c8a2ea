import { expect, test } from 'vitest'
import { simulatedAdapter } from '../../../src/adapters/simulated.ts'
import { DEMO_AGENTS } from '../../../src/kinds/demo/acts.ts'
import { expectWholeDemo } from '../../support/demo.ts'

/** `npm run demo`, as people run it. */

test('the agents of the demonstration have valid scripts', () => {
  for (const [slug, { adapterConfig }] of Object.entries(DEMO_AGENTS))
    expect([slug, simulatedAdapter.validateConfig!(adapterConfig as Record<string, unknown>)]).toEqual([
      slug,
      { ok: true },
    ])
})

test('the demonstration runs from its start to its end, with everything that it shows', {
  timeout: 400_000,
}, async () => {
  await expectWholeDemo()
})
