import { type LargeMissionFigures, largeMissions } from './approval.ts'
import { makeMissionBed } from './bed.ts'
import { besidePaused, type CostFigures, costsOfMissions, type PausedFigures } from './costs.ts'

export interface MissionFigures {
  large: LargeMissionFigures
  /** By how many callers there are at once. */
  costs: CostFigures[]
  paused: PausedFigures
}

export async function missionFigures(
  { tasks, times }: { tasks: number; times: number },
  say: (what: string) => void,
): Promise<MissionFigures> {
  const bed = await makeMissionBed()
  try {
    const large = await largeMissions(bed, tasks, say)
    const costs: CostFigures[] = []
    for (const callers of [64, 1_000]) {
      say(`q tasks of missions and others, ${callers} callers`)
      costs.push(await costsOfMissions(bed, callers, 5_000, times))
    }
    say('q claims beside 1,000 paused missions')
    return { large, costs, paused: await besidePaused(1_000, times) }
  } finally {
    await bed.close()
  }
}
