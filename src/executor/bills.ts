import { overBudget } from '../kinds/run/rules/ending.ts'
import { timeOf } from '../kinds/run/rules/policy.ts'
import { ledgerOf } from '../kinds/usage/rules/priced.ts'
import type { ActiveRun } from './active-run.ts'
import type { ExecutorContext } from './context.ts'
import type { Dispatched } from './dispatched.ts'
import type { Prepared } from './prepare.ts'
import { priceOfRun } from './price.ts'
import type { Bills } from './report.ts'

/** What a run has used is booked while it works, at the prices of then; what its program tells at its end corrects that. */
export const billingOfRun = (
  { kernel }: ExecutorContext,
  { workspaceId, agent }: Dispatched,
  { adapter, choice, billing }: Prepared,
  active: ActiveRun,
): Bills => ({
  async bill(usage) {
    const prices = await kernel.prices(workspaceId)
    const used = { usage, costUsd: null }
    return ledgerOf(priceOfRun({ agent: agent.slug, adapter, used, model: choice.model, billing, prices }))
  },
  time: timeOf(agent),
  stop: (over) => active.stop(overBudget(over, over.reason)),
})
