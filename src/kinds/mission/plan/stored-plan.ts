import { withStoredBudget } from '../../../pure/budget.ts'

/** A plan as it was stored, with the names that fields have now. */
export function storedPlan(body: string): unknown {
  const plan = JSON.parse(body) as { tasks: { budget?: object }[] }
  plan.tasks.forEach(withStoredBudget)
  return plan
}
