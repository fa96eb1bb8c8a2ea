import { expect, test } from 'vitest'
import { MISSION_BUGS } from './missions/bugs.ts'
import { reportOfMissions, runSeedOfMissions } from './missions/run.ts'
import { describePlantedBugs } from './planted-bugs.ts'
import { seedsFrom } from './seeds-from.ts'

/** The real flow of missions, plans and verdicts in memory, under a virtual clock, on nodes that die between any two commits. */

/** More of them: test/long/simulation-missions.test.ts. */
const SEEDS = 12
/** Together they reach what is rare. */
const RARE = [123, 387]
/** A bug that is not noticed within this many seeds counts as unnoticed. */
const ENOUGH = 600

/** What the seeds must reach, or they prove nothing about it. When a change moves it, it is still reached, only later. */
const REACHED = [
  ...['completed', 'failed', 'cancelled', 'node died', 'node died after commit', 'duplicate', 'lost reply'],
  ...['mission_plan_ready from planning', 'mission_plan_failed from planning', 'mission_plan_changed'],
  ...['mission_paused from running', 'mission_resumed from paused', 'mission_stopping from running'],
  ...['mission_budget_exceeded from running', 'mission_reopened from failed', 'mission_retrying'],
  ...['task_verification_passed from verifying', 'task_verification_failed from verifying'],
  ...['task_human_review_requested from verifying', 'task_cancelled from verifying'],
  ...['task_paused from assigned', 'task_unpaused from paused', 'task_skipped from pending'],
  ...['task_human_approved from awaiting_human', 'task_divided from queued', 'task_reopened from skipped'],
  ...['task_continues_later from assigned', 'mission_plan_rejected', 'mission_plan_ready from pending'],
  ...[
    'outage',
    'agent_terminated',
    'report_written',
    'routine_started',
    'routine_skipped',
    'routine_waiting',
  ],
  ...['routine_missed', 'routine_failed', 'routine_updated'],
]

test(`${SEEDS} seeds break no invariant, and they and a few more reach what they are to show`, async () => {
  const left = new Set<string>(REACHED)
  const firstSeeds = Array.from({ length: SEEDS }, (_, i) => i + 1)
  let ran = 0
  for (const seed of [...firstSeeds, ...RARE, ...seedsFrom(SEEDS + 1, ENOUGH)]) {
    if (ran++ >= SEEDS && left.size === 0) break
    const outcome = await runSeedOfMissions(seed)
    expect(outcome.broken, reportOfMissions(outcome)).toBeNull()
    const { transitions, notes, faults, endings } = outcome.world.coverage
    for (const counts of [transitions, notes, faults, endings])
      for (const what of counts.keys()) left.delete(what)
  }
  expect([...left]).toEqual([])
}, 300_000)

test('the same seed gives the same run', async () => {
  for (const seed of [3, 4]) {
    const [first, again] = [await runSeedOfMissions(seed), await runSeedOfMissions(seed)]
    expect(again.hash).toBe(first.hash)
  }
})

describePlantedBugs(MISSION_BUGS, runSeedOfMissions, ENOUGH, {
  contractorsStay: 51,
  dependentsAreForgotten: 157,
  everythingIsCaughtUp: 548,
  firstEndIsEnough: 51,
  namesAreForgotten: 157,
  orphansAreLeft: 57,
  overlapIsIgnored: 9,
  reportsComeTwice: 10,
  resultsAreForgotten: 182,
  verificationsComeTwice: 233,
  whatWaitsIsLost: 9,
})
