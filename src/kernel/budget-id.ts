import type { Period } from '../kinds/budget/record.ts'
import { idOf } from './id-of.ts'

/** The id of the budget of a scope with this period: there is one of each. As `budget_id()` in the database. */
export const budgetIdOf = (scopeKey: string, period: Period): string => idOf(`${scopeKey}/${period}`)
