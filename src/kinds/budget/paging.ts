import { isUuid } from '../../pure/ids.ts'
import type { Cursor, Paging } from '../../pure/paging.ts'
import type { Scope } from './record.ts'

/** Budgets are listed by scope, those of few things first: there is one of a workspace, and may be one of each task. */
export const LISTED_SCOPES = ['workspace', 'project', 'agent', 'mission', 'task'] as const satisfies Scope[]

/** Where a page of budgets ends. */
export interface BudgetPlace {
  /** The place of its scope in that order, from 1. */
  rank: number
  id: string
}

const cursor: Cursor<BudgetPlace> = {
  read(text) {
    const [, rank, id] = /^([1-5])\.(.+)$/.exec(text) ?? []
    return id !== undefined && isUuid(id) ? { rank: Number(rank), id } : null
  },
  write: ({ rank, id }) => `${rank}.${id}`,
}

export const byScope = { cursor } satisfies Paging

export const placeOf = ({ scope, budgetId }: { scope: Scope; budgetId: string }): BudgetPlace => ({
  rank: LISTED_SCOPES.indexOf(scope) + 1,
  id: budgetId,
})
