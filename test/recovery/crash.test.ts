import { afterEach, test } from 'vitest'
import { cleanUp, killDatabaseIn, killServer } from '../crash/scenarios.ts'

/** One round of each; test/long/crash.test.ts has many. */

afterEach(cleanUp)
const linuxTest = test.skipIf(process.platform !== 'linux')
const MINUTES = { timeout: 180_000 }

linuxTest('kill -9 of the server at any moment loses no acknowledged write', MINUTES, () =>
  killServer({ starts: 1, rounds: 1 }),
)

linuxTest(
  'kill -9 of the database at any moment loses no acknowledged write, and the server recovers on its own',
  MINUTES,
  () => killDatabaseIn(1),
)
