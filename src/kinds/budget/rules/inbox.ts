import { type EventWithOrigin, workspaceEvent } from '../../events.ts'
import { itemsChanged } from '../../task/rules/inbox-events.ts'
import type { BudgetRecord, Scope } from '../record.ts'
import { whyBlocked } from './room.ts'
import { whyStopped } from './words.ts'

/** A budget that waits for a person, whatever it has stopped. Where a person has stopped all spending, nobody needs to be asked. */

/** The budgets of missions and tasks are asked about with the mission, or with the task. */
export const asksItself = (scope: Scope): boolean => scope !== 'mission' && scope !== 'task'

/** It has the id of its item from its own id: `budget:` names missions. */
export const budgetItemId = (budgetId: string) => `spending:${budgetId}`

const isItem = (budget: BudgetRecord): boolean => {
  const why = whyBlocked(budget)
  if (!asksItself(budget.scope) || why === null || why === 'stopped') return false
  return why === 'spent' || budget.onUnknownPrice === 'ask'
}

function itemsOf(budget: BudgetRecord | null) {
  if (!budget || !isItem(budget)) return []
  return [
    {
      ...{
        id: budgetItemId(budget.budgetId),
        kind: 'budget' as const,
        generation: budget.version,
        digest: null,
      },
      agent: budget.scope === 'agent' ? budget.scopeId : null,
      reason: whyStopped(budget, whyBlocked(budget)!),
      since: budget.updatedAt,
    },
  ]
}

/** What differs for people after a change. */
export const inboxChanges = (
  before: BudgetRecord | null,
  after: BudgetRecord | null,
  because: string,
  by: Parameters<typeof workspaceEvent>[2],
): EventWithOrigin[] =>
  itemsChanged(itemsOf(before), itemsOf(after), because).map(([type, payload]) =>
    workspaceEvent(type, payload, by),
  )
