import { type Budget, nameOfBudget, SCOPES, type Scope } from '../../things/budget/budget.ts'

/** The order of the page: the workspace, then by scope; in each those that need a person, then those nearest to their end. Pure. */
export const inPageOrder = (budgets: readonly Budget[]): Budget[] =>
  SCOPES.flatMap((scope) => ofScope(budgets, scope))

export const ofScope = (budgets: readonly Budget[], scope: Scope): Budget[] =>
  budgets
    .filter((one) => one.scope === scope)
    .sort(
      (a, b) =>
        Number(b.state === 'blocked') - Number(a.state === 'blocked') ||
        b.percentUsed - a.percentUsed ||
        nameOfBudget(a).localeCompare(nameOfBudget(b)) ||
        a.id.localeCompare(b.id),
    )
