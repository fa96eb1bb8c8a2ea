import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { listOf, Page } from '../../pure/shapes.ts'
import { byScope } from './paging.ts'
import {
  AllowModelBody,
  BudgetBody,
  BudgetMove,
  BudgetParams,
  BudgetPatch,
  BudgetQuery,
  BudgetStop,
  BudgetView,
  MovedView,
} from './shapes.ts'

const tag = 'budgets'
const params = BudgetParams

export const listBudgets = endpoint({
  method: 'GET',
  path: '/budgets',
  summary: 'List budgets with what is consumed, reserved and left',
  tag,
  needs: 'read',
  query: z.strictObject({ ...Page, ...BudgetQuery }),
  answer: listOf(BudgetView),
  paging: byScope,
})

export const createBudget = endpoint({
  method: 'POST',
  path: '/budgets',
  summary: 'Set a budget for the workspace, a project, a mission, a task or an agent',
  tag,
  needs: 'operate',
  body: BudgetBody,
  status: 201,
  answer: BudgetView,
  etag: 'version',
})

export const readBudget = endpoint({
  method: 'GET',
  path: '/budgets/:id',
  summary: 'Read a budget',
  tag,
  needs: 'read',
  params,
  answer: BudgetView,
  etag: 'version',
})

export const changeBudget = endpoint({
  method: 'PATCH',
  path: '/budgets/:id',
  summary: 'Change a budget; what it has stopped continues when it has room again',
  tag,
  needs: 'operate',
  params,
  body: BudgetPatch,
  answer: BudgetView,
  etag: 'version',
})

export const removeBudget = endpoint({
  method: 'DELETE',
  path: '/budgets/:id',
  summary: 'Remove a budget; what it has stopped continues',
  tag,
  needs: 'operate',
  params,
  status: 204,
  answer: null,
})

export const moveBudget = endpoint({
  method: 'POST',
  path: '/budgets/:id/move',
  summary: 'Move a part of a budget to another one',
  tag,
  needs: 'operate',
  params,
  body: BudgetMove,
  answer: MovedView,
})

export const allowModel = endpoint({
  method: 'POST',
  path: '/budgets/:id/allow-model',
  summary: 'Let a model without a price work under a budget in dollars',
  tag,
  needs: 'operate',
  params,
  body: AllowModelBody,
  answer: BudgetView,
})

export const stopSpending = endpoint({
  method: 'POST',
  path: '/budgets/stop-all',
  summary: 'Stop all spending of the workspace: nothing begins, and what is under way stops',
  tag,
  needs: 'operate',
  body: BudgetStop,
  bodyIsOptional: true,
  answer: BudgetView,
})

export const allowSpending = endpoint({
  method: 'POST',
  path: '/budgets/allow-all',
  summary: 'Allow spending again: what was stopped continues',
  tag,
  needs: 'operate',
  body: z.strictObject({}),
  bodyIsOptional: true,
  answer: BudgetView,
})
