import { describe, expect, test } from 'vitest'
import { eventTypes } from '../../src/kinds/catalogue.ts'
import type { EventType } from '../../src/kinds/events.ts'
import type { ErrorCode } from '../../src/pure/errors.ts'
import { BUGS } from '../simulation/bugs.ts'
import { Coverage } from '../simulation/coverage.ts'
import { reportOfMissions, runSeedOfMissions } from '../simulation/missions/run.ts'
import { notice, RARE_BUGS } from '../simulation/noticed.ts'
import { report, runSeed } from '../simulation/run.ts'

const SEEDS = 2_000
const MISSION_SEEDS = 4_000
const LONG = 3_600_000

/** Transitions of the table that no run takes, and why. */
const UNREACHABLE = {
  // Its attempts must be lowered while it waits for the next one, and a claim must come before upkeep.
  'task_failed from awaiting_retry': 'too rare for so few runs',
  // A merged task is never assigned, so it never fails an attempt or awaits a person's verdict.
  'task_retried_to_wait from awaiting_retry': 'a task that waits for its parts is not worked on',
  'task_retried_to_wait from awaiting_human': 'a task that waits for its parts is not worked on',
  // A task that has not started is assigned to another agent when it is checked, before it could be suspected.
}

/** Every refusal the kernel can make; the others are those of the HTTP layer, its parsers and its guards. */
const OF_THE_KERNEL: ErrorCode[] = [
  'VALIDATION_FAILED',
  'NOT_FOUND',
  'DENIED_ACTIVE_CLAIM',
  'DENIED_COMPLETED',
  'NOT_READY',
  'WRONG_AGENT',
  'MISSING_CAPABILITY',
  'TRACK_FULL',
  'NO_CAPACITY',
  'WORKER_DRAINING',
  'WORKER_GONE',
  'AGENT_PAUSED',
  'AGENT_TERMINATED',
  'OUT_OF_ORDER',
  'NOT_LEADER',
  'DEPENDENCY_CYCLE',
  'LIMIT_REACHED',
  'GENERATION_MISMATCH',
  'SESSION_MISMATCH',
  'NO_CLAIM',
  'ALREADY_EXPIRED',
  'STALE_GENERATION',
  'FUTURE_GENERATION',
  'TASK_ALREADY_COMPLETED',
  'CONTINUATION_LIMIT',
  'WRONG_STATE',
  'ALREADY_EXISTS',
  'VERSION_MISMATCH',
  'IDEMPOTENCY_KEY_REUSED',
]

const OF_THE_COORDINATOR: EventType[] = ['task_hang_suspected', 'dependency_cycle_found']

describe('whatever goes wrong', () => {
  const coverage = new Coverage()

  test(`every invariant of invariants/ holds after every step of ${SEEDS} runs`, {
    timeout: LONG,
  }, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const outcome = await runSeed(seed, { coverage })
      if (outcome.broken) expect.fail(report(outcome))
    }
    console.log(String(coverage))
  })

  test(`and so it is in ${MISSION_SEEDS} runs with missions, where people answer, skip and complete`, {
    timeout: LONG,
  }, async () => {
    for (let seed = 1; seed <= MISSION_SEEDS; seed++) {
      const outcome = await runSeedOfMissions(seed)
      if (outcome.broken) expect.fail(reportOfMissions(outcome))
      coverage.addTransitions(outcome.world.coverage)
    }
  })

  test('the runs took every transition of the table', () => {
    expect(coverage.missedTransitions.filter((transition) => !(transition in UNREACHABLE))).toEqual([])
  })

  test('the runs left every event about agents and cycles', () => {
    const seen = eventTypes.filter((type) => type.startsWith('agent_') || OF_THE_COORDINATOR.includes(type))
    expect(seen.filter((type) => !coverage.notes.has(type))).toEqual([])
  })

  test('the runs met every refusal of the kernel', () => {
    expect(OF_THE_KERNEL.filter((code) => !coverage.replies.has(code))).toEqual([])
  })
})

describe('a planted bug that shows rarely is noticed', () => {
  for (const name of RARE_BUGS) test(`${name}: ${BUGS[name].says}`, { timeout: LONG }, () => notice(name))
})
