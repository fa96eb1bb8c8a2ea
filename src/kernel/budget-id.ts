import { createHash } from 'node:crypto'
import type { Period } from '../kinds/budget/record.ts'

/** The id of the budget of a scope with this period: there is one of each. As `budget_id()` in the database. */
export function budgetIdOf(scopeKey: string, period: Period): string {
  const hex = createHash('md5').update(`${scopeKey}/${period}`).digest('hex')
  // In the form that all ids have here.
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `7${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-')
}
