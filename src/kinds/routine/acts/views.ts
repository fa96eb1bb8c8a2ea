import { viewOf } from '../../../pure/fields.ts'
import { instant } from '../../../pure/instant.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import type { ListedRoutine, MissionFigures, RoutineMission } from '../postgres.ts'
import { ROUTINE_FIELDS, type RoutineRecord } from '../record.ts'
import { nextOf } from '../rules/schedule.ts'
import { type RoutineRunView, RoutineView } from '../shapes.ts'

/** Routines as API answers. */

const viewOfRoutine = viewOf(ROUTINE_FIELDS, RoutineView)

export const routineView = (routine: RoutineRecord): AnswerOf<typeof RoutineView> => ({
  ...viewOfRoutine(routine),
  plan: null,
  enabled: routine.isEnabled,
  nextTimes: nextTimes(routine, 3),
  waitingFor: routine.waiting.map((at) => instant(at)),
  originMissionId: routine.origin,
  project: routine.project,
})

/** Scores take long to read: lists compare cost and time. */
const unscored = (figures: Omit<MissionFigures, 'score'>): MissionFigures => ({ ...figures, score: null })

/** In a list: with a mark for each of its last missions, and how they differ from its origin. */
export const listedRoutine = ({
  routine,
  last,
  origin,
  figures,
}: ListedRoutine): AnswerOf<typeof RoutineView> => ({
  ...routineView(routine),
  drift: origin && driftOf(unscored(origin), figures.map(unscored)),
  lastRuns: last.map(({ startedAt, ...mark }) => ({ ...mark, startedAt: instant(startedAt) })),
})

function nextTimes({ schedule, nextAt }: RoutineRecord, most: number): string[] {
  const times: string[] = []
  for (let at = nextAt; at !== null && schedule && times.length < most; at = nextOf(schedule, at))
    times.push(instant(at))
  return times
}

export const runView = (run: RoutineMission): AnswerOf<typeof RoutineRunView> => ({
  missionId: run.missionId,
  scheduledFor: instant(run.scheduledFor),
  startedAt: instant(run.startedAt),
  ...{ state: run.state, title: run.title, variables: run.variables },
  completedAt: instant(run.completedAt),
  ...{ costUsd: run.costUsd, durationMs: run.durationMs, score: run.score, isSimulated: run.isSimulated },
})

/** How the last missions differ from the origin, on average. */
export function driftOf(
  origin: MissionFigures,
  runs: readonly MissionFigures[],
): AnswerOf<typeof RoutineView>['drift'] {
  if (runs.length === 0) return null
  const mean = (of: (run: MissionFigures) => number | null) => {
    const known = runs.map(of).filter((value) => value !== null)
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
  }
  // From nothing there is no share.
  const share = (now: number | null, then: number | null) =>
    now === null || !then ? null : rounded(now / then - 1)
  const score = mean((run) => run.score)
  return {
    runs: runs.length,
    costChange: share(
      mean(({ costUsd }) => (costUsd === null ? null : Number(costUsd))),
      origin.costUsd === null ? null : Number(origin.costUsd),
    ),
    durationChange: share(
      mean(({ durationMs }) => durationMs),
      origin.durationMs,
    ),
    scoreChange: score === null || origin.score === null ? null : rounded(score - origin.score),
  }
}

const rounded = (value: number) => Math.round(value * 10_000) / 10_000
