import { afterAll, beforeAll, beforeEach, describe, test } from 'vitest'
import { SCENARIOS } from '../support/coditect-scenarios.ts'
import { memoryDriver, postgresDriver, type StoreDriver } from '../support/coditect-store-drivers.ts'

describe.each([
  ['memory', memoryDriver],
  ['postgres', postgresDriver],
])('Coditect, on %s', (_kind, open) => {
  let coordinator: StoreDriver
  beforeAll(async () => {
    coordinator = await open()
  })
  afterAll(() => coordinator.close())
  beforeEach(() => coordinator.begin())

  describe.each(Object.entries(SCENARIOS))('%s', (_section, scenarios) => {
    test.each(Object.entries(scenarios))('%s', (_scenario, play) => play(coordinator))
  })
})
