import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { readGivenPlan } from '../../project/acts/read-plan-apart.ts'
import { refusedPlan } from '../plan/refusal.ts'
import { summarise } from '../plan/summary.ts'
import type { PlanCheckAnswer } from '../shapes/plans.ts'
import { pricedByAgents } from './agent-models.ts'
import { refuseAgents } from './plan-agents.ts'
import { planDigest } from './plan-digest.ts'

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
