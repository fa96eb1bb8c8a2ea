import { expect } from 'vitest'
import { BUGS, type BugName } from './bugs.ts'
import { runSeed } from './run.ts'
import { type ShowsAt, seedsFrom } from './seeds-from.ts'

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

const SHOWS_AT: ShowsAt<BugName> = {
  promotesBeside: 317,
  continuesThoughBlocked: 129,
  countsBeforeTheLock: 120,
  acceptsTwice: 92,
  renewsTheExpired: 79,
  leavingAgentsGetWork: 55,
  noFence: 22,
  hungTasksKeepTheirPriority: 15,
  capacityCountedOnceABatch: 13,
  countsTwice: 45,
  cyclesAreLeftAlone: 12,
  pausedAgentsGetWork: 11,
}

/** The rarest shows in one run of two hundred. */
const WITHIN = 1_000

/** Runs seeds with this bug planted until an invariant that should notice it does. */
export async function notice(name: BugName): Promise<void> {
  for (const seed of seedsFrom(SHOWS_AT[name] ?? 1, WITHIN)) {
    const { broken } = await runSeed(seed, { bug: name })
    if (!broken) continue
    console.log(`${name.padEnd(28)} seed ${String(seed).padStart(3)}  ${broken.invariant}`)
    expect(BUGS[name].foundBy).toContain(broken.invariant)
    return
  }
  expect.fail(`Not noticed in ${WITHIN} runs.`)
}
