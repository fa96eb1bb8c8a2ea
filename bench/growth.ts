import type { Measured } from './drive.ts'
import { KernelRounds } from './kernel.ts'
import { interleaved, type Spread, spreadOf } from './rounds.ts'
import { makeBed } from './setup.ts'

export interface GrowthFigure {
  few: Measured
  many: Measured
  /** What a claim or a release costs among many stored tasks, of what it costs among few. */
  ratio: Spread
}

const FEW = 10_000
const SAMPLE = 10_000
const TIMES = 5

/** Two databases, one that stays small and one that is large from the start, measured in turn. */
export async function growth(stored: number): Promise<GrowthFigure> {
  const beds = [await makeBed(), await makeBed()]
  try {
    const rounds: KernelRounds[] = []
    for (const [i, bed] of beds.entries()) {
      const lot = await bed.fill(i === 0 ? FEW : stored)
      await bed.calm()
      const round = new KernelRounds(bed, lot, SAMPLE)
      // Warms caches and plans up.
      await round.run()
      rounds.push(round)
    }
    const [few, many] = await interleaved(
      TIMES,
      rounds.map((round) => () => round.run()),
    )
    const ratios = few!.map(({ perSecond }, i) => perSecond / many![i]!.perSecond)
    return { few: middle(few!), many: middle(many!), ratio: spreadOf(ratios) }
  } finally {
    for (const bed of beds) await bed.close()
  }
}

/** The round whose rate is the median. */
function middle(rounds: readonly Measured[]): Measured {
  const { median } = spreadOf(rounds.map(({ perSecond }) => perSecond))
  return rounds.find(({ perSecond }) => perSecond === median)!
}
