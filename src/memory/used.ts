import type { SpentOnTask } from '../kinds/run/rules/budget.ts'
import type { UsageSource } from '../kinds/usage/record.ts'
import { hasTold, totalsOf } from '../kinds/usage/rules/book.ts'
import { sumOfDollars } from '../pure/money.ts'
import type { Workspace } from './workspace.ts'

/** What was used, as the ledger has it: by all runs, and by claims of agents that Baton does not run. */

/** What these runs and claims have used for a task. */
export function usedForTask(
  workspace: Workspace,
  taskId: number | null,
  isWanted: (source: UsageSource) => boolean = () => true,
) {
  const totals = sourcesOfTask(workspace, taskId)
    .filter(isWanted)
    .map(({ booked }) => totalsOf(booked))
  return {
    tokens: totals.reduce((sum, one) => sum + one.tokens, 0),
    costUsd: sumOfKnown(totals.flatMap(({ costUsd, notionalUsd }) => [costUsd, notionalUsd])),
  }
}

const sourcesOfTask = ({ usageSources }: Workspace, taskId: number | null) =>
  [...usageSources.values()].filter((one) => taskId !== null && one.taskId === taskId && hasTold(one))

/** Null: nothing of it is known. */
function sumOfKnown(costs: readonly (string | null)[]): string | null {
  const known = costs.filter((cost) => cost !== null)
  return known.length === 0 ? null : sumOfDollars(...known)
}

/** All that was used for a task; null where nothing was. */
export function usageOfTask(workspace: Workspace, taskId: number): SpentOnTask {
  const totals = sourcesOfTask(workspace, taskId).map(({ booked }) => totalsOf(booked))
  const sum = (field: 'inputTokens' | 'cachedInputTokens' | 'outputTokens') =>
    totals.length === 0 ? null : totals.reduce((all, one) => all + one[field], 0)
  return {
    inputTokens: sum('inputTokens'),
    cachedInputTokens: sum('cachedInputTokens'),
    outputTokens: sum('outputTokens'),
    costUsd: sumOfKnown(totals.flatMap(({ costUsd, notionalUsd }) => [costUsd, notionalUsd])),
    notionalUsd: sumOfKnown(totals.map(({ notionalUsd }) => notionalUsd)),
  }
}
