import { readPlan } from '../core/plans/read.ts'
import { refusedPlan } from '../core/plans/refusal.ts'
import { summarise } from '../core/plans/summary.ts'
import type { AnswerOf } from '../core/shapes/common.ts'
import type { PlanCheckAnswer } from '../core/shapes/plans.ts'
import type { Caller } from '../kernel/kernel.ts'
import type { ServerKernel } from '../kernel/server-kernel.ts'
import { refuseContractors } from './missions/contractors.ts'
import { planDigest } from './plan-digest.ts'

/** A dry run: what a plan of either kind would be, or all its problems. Writes nothing. */
export async function checkedPlan(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  text: string,
): Promise<AnswerOf<typeof PlanCheckAnswer>> {
  const reading = readPlan(text)
  if (!reading.ok) throw refusedPlan(reading.problems)
  if (reading.kind === 'mission') await refuseContractors(kernel, workspaceId, reading.plan, null)
  return { valid: true, ...summarise(reading.plan), digest: planDigest(reading.plan) }
}
