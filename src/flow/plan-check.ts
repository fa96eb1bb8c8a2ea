import { refusedPlan } from '../core/plans/refusal.ts'
import { summarise } from '../core/plans/summary.ts'
import type { AnswerOf } from '../core/shapes/common.ts'
import type { PlanCheckAnswer } from '../core/shapes/plans.ts'
import type { Caller } from '../kernel/kernel.ts'
import type { ServerKernel } from '../kernel/server-kernel.ts'
import { pricedByAgents } from './missions/agent-models.ts'
import { refuseAgents } from './missions/plan-agents.ts'
import { planDigest } from './plan-digest.ts'
import { readGivenPlan } from './plan-reading/read-apart.ts'

/** A dry run: what a plan of either kind would be, or all its problems. Writes nothing. */
export async function checkedPlan(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  text: string,
): Promise<AnswerOf<typeof PlanCheckAnswer>> {
  const reading = await readGivenPlan(text)
  if (!reading.ok) throw refusedPlan(reading.problems)
  if (reading.kind === 'mission') await refuseAgents(kernel, workspaceId, reading.plan, null)
  const prices = await pricedByAgents(kernel, workspaceId)
  return { valid: true, ...summarise(reading.plan, prices), digest: planDigest(reading.plan) }
}
