import { useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { type Budget, hasLimit } from '../../things/budget/budget.ts'
import type { Asked } from '../../things/budget/budget-dialogs.tsx'

/** The keys of the page. Returns where they are in the list. */
export function useBudgetKeys(props: {
  /** In the order of the page. */
  budgets: readonly Budget[]
  /** The one beside the list. */
  opened: string | undefined
  /** Why this user may not change budgets. */
  refusal: string | null
  onAsk: (asked: Asked) => void
  onNew: () => void
  onOpen: (id: string | undefined) => void
  onGroup: () => void
}): string | null {
  const { budgets, opened, refusal, onAsk, onNew, onOpen, onGroup } = props
  const [selected, setSelected] = useState<string | null>(null)
  const move = (step: number) => {
    const place = budgets.findIndex(({ id }) => id === selected)
    const to = budgets[Math.min(Math.max(place + step, 0), budgets.length - 1)]
    setSelected(to?.id ?? null)
    document.querySelector(`[data-budget="${to?.id}"]`)?.scrollIntoView({ block: 'nearest' })
  }
  const current = budgets.find(({ id }) => id === (opened ?? selected))
  const toRaise = current ?? budgets.find(hasLimit)
  useShortcuts('Budgets', {
    n: { words: 'New budget', run: onNew, isOff: refusal !== null },
    r: {
      words: 'Raise the budget',
      run: () => toRaise && onAsk({ act: 'raise', budget: toRaise }),
      isOff: refusal !== null || toRaise === undefined || !hasLimit(toRaise),
    },
    v: { words: 'Next grouping of what was used', run: onGroup },
    j: { words: 'Next budget', run: () => move(1), repeats: true },
    k: { words: 'Previous budget', run: () => move(-1), repeats: true },
    Enter: {
      words: 'Open the budget',
      run: () => onOpen(selected ?? undefined),
      isOff: selected === null,
    },
    Esc: { words: 'Close the panel', run: () => onOpen(undefined), isOff: opened === undefined },
  })
  return selected
}
