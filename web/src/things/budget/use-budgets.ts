import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'
import { useList } from '../use-list.ts'
import type { Budget, Scope } from './budget.ts'

const idOf = ({ id }: Budget) => id

/** All budgets of the workspace, read on as the reader scrolls down. */
export const useBudgets = () =>
  useList(['budgets'], (query, signal) => api().read('/budgets', { query, ...(signal && { signal }) }), {
    follows: about.spending,
    keyOf: idOf,
  })

/** The budgets of one thing: an agent or a project may have one for each period. */
export const useBudgetsOf = (scope: Scope, scopeId?: string) =>
  useSnapshot(
    ['budgets-of', scope, scopeId ?? ''],
    ({ signal }) =>
      api().read('/budgets', { query: { scope, ...(scopeId !== undefined && { scopeId }) }, signal }),
    { follows: about.spending },
  )

/** When a budget is used up, at the pace of the last day. Without an id: that of the workspace. */
export const useProjection = (budget?: string) =>
  useSnapshot(
    ['projection', budget ?? ''],
    ({ signal }) =>
      api().read('/usage/projection', { query: budget === undefined ? {} : { budget }, signal }),
    { follows: about.spending },
  )
