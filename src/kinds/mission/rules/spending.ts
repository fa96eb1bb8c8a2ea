import { sumOfDollars } from '../../../pure/money.ts'
import { picosOf } from '../../run/rules/dollars.ts'
import type { MissionRecord } from '../record.ts'

/** What the runs of a mission have spent: whether that is its budget, and whether it is worth an event of its own. */

type CostOfRuns = Pick<MissionRecord['counts'], 'tokens' | 'usd' | 'notionalUsd' | 'runs' | 'unknownRuns'>

/**
 * The cost of its runs as far as it is known. Commands that verify cost nothing, which says nothing of the others. In missions from
 * before runs were counted, tokens without dollars say that it is unknown.
 */
export function knownCost({ tokens, usd, notionalUsd, runs, unknownRuns }: CostOfRuns): string | null {
  // Budgets count only what is paid by use; people are told what all of it cost.
  const cost = sumOfDollars(usd, notionalUsd)
  return cost === '0' && (runs > 0 ? unknownRuns > 0 : tokens > 0) ? null : cost
}

/** "$1.20", "$1.20 of simulated money". */
export const spentWords = (usd: string, isSimulated: boolean): string =>
  isSimulated ? `$${usd} of simulated money` : `$${usd}`

/** For people: "$1.20", "$1.20 (unknown for 6 of 9 runs)", "unknown cost". */
export function costText(counts: CostOfRuns, isSimulated: boolean): string {
  const cost = knownCost(counts)
  if (cost === null) return 'unknown cost'
  const { runs, unknownRuns } = counts
  const dollars = spentWords(cost, isSimulated)
  return unknownRuns === 0 ? dollars : `${dollars} (unknown for ${unknownRuns} of ${runs} runs)`
}

/** Whether its runs have used up its budget. */
export function isSpent({ config, counts }: Pick<MissionRecord, 'config' | 'counts'>): boolean {
  const { maxUsd, maxTokens } = config.budget ?? {}
  if (maxTokens !== undefined && counts.tokens >= maxTokens) return true
  return maxUsd !== undefined && picosOf(counts.usd) >= picosOf(maxUsd)
}

type Spending = Pick<MissionRecord, 'config' | 'counts' | 'snapshot'>

/**
 * Its tokens or dollars grew by a tenth: of its budget or, without one, of what they were at the last snapshot. So there are
 * few snapshots, however many runs a mission has.
 */
export function isSnapshotDue({ config, counts, snapshot }: Spending): boolean {
  const { maxUsd, maxTokens } = config.budget ?? {}
  const [usd, toldUsd] = [picosOf(counts.usd), picosOf(snapshot?.usd ?? '0')]
  const [tokens, toldTokens] = [BigInt(counts.tokens), BigInt(snapshot?.tokens ?? 0)]
  return (
    grew(usd, toldUsd, maxUsd === undefined ? toldUsd : picosOf(maxUsd)) ||
    grew(tokens, toldTokens, maxTokens === undefined ? toldTokens : BigInt(maxTokens))
  )
}

const grew = (now: bigint, before: bigint, of: bigint) => now > before && (now - before) * 10n >= of

/** How much of its budget is spent, by whichever of tokens and dollars is more; null: it has no budget. */
export function percentUsed({ config, counts }: Pick<MissionRecord, 'config' | 'counts'>): number | null {
  const { maxUsd, maxTokens } = config.budget ?? {}
  const percent = (now: bigint, of: bigint) => (of === 0n ? 100 : Number((now * 1000n) / of) / 10)
  const used = [
    ...(maxUsd === undefined ? [] : [percent(picosOf(counts.usd), picosOf(maxUsd))]),
    ...(maxTokens === undefined ? [] : [percent(BigInt(counts.tokens), BigInt(maxTokens))]),
  ]
  return used.length === 0 ? null : Math.max(...used)
}
