import { nanosOf } from '../../run/rules/dollars.ts'
import type { MissionRecord } from '../record.ts'

/** What the runs of a mission have spent: whether that is its budget, and whether it is worth an event of its own. */

type CostOfRuns = Pick<MissionRecord['counts'], 'tokens' | 'usd' | 'runs' | 'unknownRuns'>

/**
 * The cost of its runs as far as it is known. Commands that verify cost nothing, which says nothing of the others. In missions from
 * before runs were counted, tokens without dollars say that it is unknown.
 */
export const knownCost = ({ tokens, usd, runs, unknownRuns }: CostOfRuns): string | null =>
  usd === '0' && (runs > 0 ? unknownRuns > 0 : tokens > 0) ? null : usd

/** For people: "$1.20", "$1.20 (unknown for 6 of 9 runs)", "unknown cost". */
export function costText(counts: CostOfRuns): string {
  const cost = knownCost(counts)
  if (cost === null) return 'unknown cost'
  const { runs, unknownRuns } = counts
  return unknownRuns === 0 ? `$${cost}` : `$${cost} (unknown for ${unknownRuns} of ${runs} runs)`
}

/** Whether its runs have used up its budget. */
export function isSpent({ config, counts }: Pick<MissionRecord, 'config' | 'counts'>): boolean {
  const { maxUsd, maxTokens } = config.budget ?? {}
  if (maxTokens !== undefined && counts.tokens >= maxTokens) return true
  return maxUsd !== undefined && nanosOf(counts.usd) >= nanosOf(maxUsd)
}

type Spending = Pick<MissionRecord, 'config' | 'counts' | 'snapshot'>

/**
 * Its tokens or dollars grew by a tenth: of its budget or, without one, of what they were at the last snapshot. So there are
 * few snapshots, however many runs a mission has.
 */
export function isSnapshotDue({ config, counts, snapshot }: Spending): boolean {
  const { maxUsd, maxTokens } = config.budget ?? {}
  const [usd, toldUsd] = [nanosOf(counts.usd), nanosOf(snapshot?.usd ?? '0')]
  const [tokens, toldTokens] = [BigInt(counts.tokens), BigInt(snapshot?.tokens ?? 0)]
  return (
    grew(usd, toldUsd, maxUsd === undefined ? toldUsd : nanosOf(maxUsd)) ||
    grew(tokens, toldTokens, maxTokens === undefined ? toldTokens : BigInt(maxTokens))
  )
}

const grew = (now: bigint, before: bigint, of: bigint) => now > before && (now - before) * 10n >= of

/** How much of its budget is spent, by whichever of tokens and dollars is more; null: it has no budget. */
export function percentUsed({ config, counts }: Pick<MissionRecord, 'config' | 'counts'>): number | null {
  const { maxUsd, maxTokens } = config.budget ?? {}
  const percent = (now: bigint, of: bigint) => (of === 0n ? 100 : Number((now * 1000n) / of) / 10)
  const used = [
    ...(maxUsd === undefined ? [] : [percent(nanosOf(counts.usd), nanosOf(maxUsd))]),
    ...(maxTokens === undefined ? [] : [percent(BigInt(counts.tokens), BigInt(maxTokens))]),
  ]
  return used.length === 0 ? null : Math.max(...used)
}
