import { type Refusal, refuse, refuseField } from '../../../pure/errors.ts'
import { type BudgetChange, whyOverBudget } from '../../run/rules/budget.ts'
import type { TaskDraft } from '../record.ts'

/** A task gets another budget of its own. One that its runs have used up already would only stop the next of them. */
export function changeBudget(
  { record, effects, before }: TaskDraft,
  { budget, plan, spent, version }: BudgetChange,
): Refusal | null {
  // Its plan may have changed in the meantime: the caller must read again.
  if (version !== before.version)
    return refuse('VERSION_MISMATCH', `The task is at version ${before.version}.`, {
      ...{ currentVersion: before.version, shouldRetry: true },
    })
  const why = budget && whyOverBudget(budget, spent, null, null)
  if (why)
    return refuseField(
      'VALIDATION_FAILED',
      'budget',
      `must be more than was spent: ${why.replace(/\.$/, '')}`,
    )
  effects.details.push({ taskId: record.id, set: { plan } })
  return null
}
