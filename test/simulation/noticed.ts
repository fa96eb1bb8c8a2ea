import { expect } from 'vitest'
import { BUGS, type BugName } from './bugs.ts'
import { runSeed } from './run.ts'

export const BUG_NAMES = Object.keys(BUGS) as BugName[]

/** Those that need fifty runs or more to be noticed: test/long/simulation.test.ts plants them. */
export const RARE_BUGS: readonly BugName[] = [
  'stallsByOldSight',
  'suspicionStays',
  'mergesWhatWasRead',
  'takesOldReports',
  'tracksAreOpen',
  'sweepsByOldLease',
]

/** The rarest shows in one run of two hundred. */
const WITHIN = 1_000

/** Runs seeds with this bug planted until an invariant that should notice it does. */
export async function notice(name: BugName): Promise<void> {
  for (let seed = 1; seed <= WITHIN; seed++) {
    const { broken } = await runSeed(seed, { bug: name })
    if (!broken) continue
    console.log(`${name.padEnd(28)} seed ${String(seed).padStart(3)}  ${broken.invariant}`)
    expect(BUGS[name].foundBy).toContain(broken.invariant)
    return
  }
  expect.fail(`Not noticed in ${WITHIN} runs.`)
}
