import { Button } from '../../parts/button.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { Menu } from '../../parts/menu.tsx'
import { useSession } from '../../requests/session.ts'
import { type Budget, hasLimit, nameOfBudget, PERIOD_WORDS } from './budget.ts'
import type { Asked } from './budget-dialogs.tsx'
import { canTake } from './move-amount.tsx'

/** Raise it, and all else that can be done with a budget. */
export function BudgetMenu(props: {
  budget: Budget
  all: readonly Budget[]
  onAsk: (asked: Asked) => void
  shortcut?: string
}) {
  const { budget, all, onAsk, shortcut } = props
  const refusal = useSession().whyNot('operate')
  const isUnlimited = !hasLimit(budget)
  const name = `${nameOfBudget(budget)}, ${PERIOD_WORDS[budget.period].limit}`
  const asks = budget.blockedBecause === 'unknown_price'
  const ask = (act: Asked['act']) => () => onAsk({ act, budget })
  const canMove = canTake(budget, all).length > 0
  return (
    <span className="flex shrink-0 items-center justify-end gap-1">
      {asks && (
        <Button
          aria-label={`Allow ${budget.unknownModel}: ${name}`}
          disabledReason={refusal}
          onClick={ask('allow')}
          size="small"
        >
          Allow
        </Button>
      )}
      {isUnlimited ? (
        <Button
          aria-label={`Set a limit: ${name}`}
          disabledReason={refusal}
          onClick={ask('change')}
          size="small"
        >
          Set a limit
        </Button>
      ) : (
        <Button
          aria-label={`Raise: ${name}`}
          disabledReason={refusal}
          kind={budget.blockedBecause === 'spent' ? 'primary' : 'plain'}
          onClick={ask('raise')}
          size="small"
          {...(shortcut === undefined ? {} : { shortcut })}
        >
          Raise
        </Button>
      )}
      {!isUnlimited && (
        <Menu
          groups={[
            [
              { words: 'Change…', icon: 'edit', run: ask('change'), disabledReason: refusal },
              canMove && {
                ...{ words: 'Move a part to another budget…', icon: 'arrow-right', run: ask('move') },
                disabledReason: refusal,
              },
            ],
            [
              {
                ...{ words: 'Remove…', icon: 'trash', run: ask('remove'), isDangerous: true },
                disabledReason: refusal,
              },
            ],
          ]}
          trigger={<IconButton icon="more" label={`More: ${name}`} size="small" />}
        />
      )}
    </span>
  )
}
