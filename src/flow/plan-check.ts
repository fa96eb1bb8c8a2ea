import { readPlan } from '../core/plans/read.ts'
import { refusedPlan } from '../core/plans/refusal.ts'
import { summarise } from '../core/plans/summary.ts'
import type { AnswerOf } from '../core/shapes/common.ts'
import type { PlanCheckAnswer } from '../core/shapes/plans.ts'
import { planDigest } from './plan-digest.ts'

/** A dry run: what a plan of either kind would be, or all its problems. Reads and writes nothing. */
export function checkedPlan(text: string): AnswerOf<typeof PlanCheckAnswer> {
  const reading = readPlan(text)
  if (!reading.ok) throw refusedPlan(reading.problems)
  return { valid: true, ...summarise(reading.plan), digest: planDigest(reading.plan) }
}
