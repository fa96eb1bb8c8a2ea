import { type Goal, worded } from '../report.ts'
import { aligned, ranged, whole } from '../text-table.ts'
import type { MigrationFigures } from './migration.ts'
import type { MissionFigures } from './missions.ts'

const ratio = (value: number) => value.toFixed(2)

/** Times of a mission of 10,000 tasks, and what missions cost others as ratios. */
export function missionVerdicts({ large, costs, paused }: MissionFigures): string {
  const { tasks, approvalMs, othersMeanwhile, cancelMs, looseCancelMs } = large
  const size = whole(tasks)
  const rows = [
    ['missions', 'median (least–most)'],
    [`approval of ${size} tasks, ms`, ranged(approvalMs)],
    [`cancellation of ${size} tasks, ms`, ranged(cancelMs)],
    [`cancellation of ${size} tasks without edges, ms`, ranged(looseCancelMs)],
    ...costs.flatMap(
      ({ callers, claims, claimsCounted, claimsCountedCpu, completionWall, completionCpu }) => [
        [
          `claims a second in a mission, relative to the same without counters, ${callers} callers`,
          ranged(claimsCounted, ratio),
        ],
        [
          `CPU of the same claims, relative to without counters, ${callers} callers`,
          ranged(claimsCountedCpu, ratio),
        ],
        [`claims a second in a mission, relative to outside one, ${callers} callers`, ranged(claims, ratio)],
        [
          `time of a completion, relative to outside a mission, ${callers} callers`,
          ranged(completionWall, ratio),
        ],
        [
          `CPU of a completion, relative to outside a mission, ${callers} callers`,
          ranged(completionCpu, ratio),
        ],
      ],
    ),
    [
      `claims a second beside ${whole(paused.missions)} paused missions, relative to none`,
      ranged(paused.claims, ratio),
    ],
  ]
  const goals: Goal[] = [
    [`approval of ${size} tasks < 3 s, in ms`, approvalMs.median, approvalMs.median < 3_000],
    ['claims of others meanwhile: p99 < 500 ms', othersMeanwhile.p99Ms, othersMeanwhile.p99Ms < 500],
    [`cancellation of ${size} tasks < 5 s, in ms`, cancelMs.median, cancelMs.median < 5_000],
    [
      `cancellation of ${size} tasks without edges < 5 s, in ms`,
      looseCancelMs.median,
      looseCancelMs.median < 5_000,
    ],
    ...costs.flatMap(({ callers, claimsCounted, completionWall, completionCpu }): Goal[] => [
      [
        `claims in a mission ≥ 0.95 of those without counters, ${callers} callers`,
        claimsCounted.median,
        claimsCounted.median >= 0.95,
      ],
      [
        `time of a completion ≤ 1.3 × outside, ${callers} callers`,
        completionWall.median,
        completionWall.median <= 1.3,
      ],
      [
        `CPU of a completion ≤ 1.3 × outside, ${callers} callers`,
        completionCpu.median,
        completionCpu.median <= 1.3,
      ],
    ]),
    [
      `claims beside ${whole(paused.missions)} paused missions ≥ 0.95 of none`,
      paused.claims.median,
      paused.claims.median >= 0.95,
    ],
  ]
  return `${aligned(rows)}\n${worded(goals)}`
}

export function migrationVerdicts(figures: MigrationFigures): string {
  const { tasks, failed, tookMs, cpuMs, claims, slowestClaimMs } = figures
  const about = `${whole(tasks)} tasks, ${whole(failed)} of them dead letters, ${whole(claims)} claims meanwhile`
  return `${about}; CPU of Postgres ${whole(cpuMs)} ms\n${worded([
    ['migration from the first version < 10 s, in ms', tookMs, tookMs < 10_000],
    ['slowest claim meanwhile < 1 s, in ms', slowestClaimMs, slowestClaimMs < 1_000],
  ])}`
}
