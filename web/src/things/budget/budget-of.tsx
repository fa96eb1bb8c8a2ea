import type { Scope } from './budget.ts'
import { EditBudget } from './edit-budget.tsx'
import { useBudgetsOf } from './use-budgets.ts'

/** Sets or changes the one budget that a mission or a task has. */
export function BudgetOf(props: { scope: Scope; scopeId: string; onClose: () => void }) {
  const { scope, scopeId, onClose } = props
  const { data } = useBudgetsOf(scope, scopeId)
  if (data === undefined) return null
  const [budget] = data.items
  return budget ? (
    <EditBudget budget={budget} onClose={onClose} />
  ) : (
    <EditBudget about={{ scope, scopeId }} onClose={onClose} />
  )
}
