import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { type Budget, nameOfBudget } from './budget.ts'
import { EditBudget } from './edit-budget.tsx'
import { MoveAmount } from './move-amount.tsx'
import { RaiseBudget } from './raise-budget.tsx'
import { useBudgetActs } from './use-budget-acts.ts'

type BudgetAct = 'raise' | 'change' | 'move' | 'remove' | 'allow'

export interface Asked {
  act: BudgetAct
  budget: Budget
}

/** What is asked before an act on a budget. */
export function BudgetDialogs(props: { asked: Asked | null; all: readonly Budget[]; onClose: () => void }) {
  const { asked, all, onClose } = props
  const acts = useBudgetActs()
  if (asked === null) return null
  const { act, budget } = asked
  const name = budget.scope === 'workspace' ? 'the workspace' : `“${nameOfBudget(budget)}”`
  switch (act) {
    case 'raise':
      return <RaiseBudget budget={budget} onClose={onClose} />
    case 'change':
      return <EditBudget budget={budget} onClose={onClose} />
    case 'move':
      return <MoveAmount all={all} from={budget} onClose={onClose} />
    case 'remove':
      return (
        <ConfirmDialog
          confirm="Remove budget"
          isDangerous
          onClose={onClose}
          onConfirm={() => acts.remove.run(budget)}
          open
          text={
            budget.state === 'blocked'
              ? 'Nothing limits this any more, and what it has stopped goes on.'
              : 'Nothing limits this any more. What was used stays on record.'
          }
          title={`Remove the budget of ${name}?`}
        />
      )
    case 'allow':
      return (
        <ConfirmDialog
          confirm="Allow the model"
          onClose={onClose}
          onConfirm={() => acts.allowModel.run(budget)}
          open
          text="Its tokens are counted, its dollars are not. To count them, set its price in the settings instead."
          title={`Let ${budget.unknownModel} work under the budget of ${name}?`}
        />
      )
  }
}
