import { endpoint } from '../../pure/endpoint.ts'
import { listOf } from '../../pure/shapes.ts'
import { PriceBody, PriceParams, PriceView } from './shapes.ts'

/** Prices of models: those of the list, and those that the workspace has set instead. */

const tag = 'prices'

export const listPrices = endpoint({
  method: 'GET',
  path: '/prices',
  summary: 'List the prices of all models, in dollars for a million tokens',
  tag,
  needs: 'read',
  answer: listOf(PriceView),
})

export const readPrice = endpoint({
  method: 'GET',
  path: '/prices/:model',
  summary: 'Read the price of a model',
  tag,
  needs: 'read',
  params: PriceParams,
  answer: PriceView,
})

export const setPrice = endpoint({
  method: 'PUT',
  path: '/prices/:model',
  summary: 'Set the price of a model for this workspace, for runs that end from now on',
  tag,
  needs: 'admin',
  params: PriceParams,
  body: PriceBody,
  answer: PriceView,
})

export const removePrice = endpoint({
  method: 'DELETE',
  path: '/prices/:model',
  summary: "Remove the price that this workspace has set for a model: the list's counts again",
  tag,
  needs: 'admin',
  params: PriceParams,
  status: 204,
  answer: null,
})
