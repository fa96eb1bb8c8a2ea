import type { StepContext, UpkeepStep } from '../../door/upkeep-step.ts'
import { LedgerWalk } from './postgres/compare.ts'
import { recountSource, recountUsedFor } from './rules/recount.ts'

/** Compares totals with the rows that they add up, a few at a time, and repairs them. Budgets are compared by their own kind. */
async function compare({ kernel, term, only, kept }: StepContext): Promise<number> {
  const walk = kept(LedgerWalk)
  const { readers } = kernel.store
  const sources = await walk.sources(readers, only)
  for (const { workspaceId, sourceId, generation } of sources)
    await kernel.step({ workspaceId, term }, recountSource({ sourceId, generation }))
  // With the totals of their runs and claims as they are now.
  const missions = await walk.missions(readers, only)
  for (const mission of missions)
    await kernel.step({ workspaceId: mission.workspaceId, term }, recountUsedFor(mission))
  return sources.length + missions.length
}

export const usageSteps: readonly UpkeepStep[] = [
  { name: 'ledgerCorrected', phase: 'repair', everyMs: 30_000, run: compare },
]
