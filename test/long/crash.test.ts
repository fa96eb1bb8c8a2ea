import { afterEach, test } from 'vitest'
import { cleanUp, killDatabaseIn, killServer } from '../crash/scenarios.ts'

afterEach(cleanUp)
const linuxTest = test.skipIf(process.platform !== 'linux')
const LONG = { timeout: 900_000 }

linuxTest('kill -9 of the server at forty moments loses no acknowledged write', LONG, () =>
  killServer({ starts: 8, rounds: 26 }),
)

linuxTest('kill -9 of the database at forty moments loses no acknowledged write', LONG, () =>
  killDatabaseIn(32),
)
