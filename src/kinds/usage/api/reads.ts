import { endpoint } from '../../../pure/endpoint.ts'
import { listOf } from '../../../pure/shapes.ts'
import { byUsage } from '../paging.ts'
import {
  Projection,
  ProjectionQuery,
  UsageQuery,
  UsageRowsQuery,
  UsageRowView,
  UsageSums,
} from '../shapes.ts'

const tag = 'usage'

export const readUsage = endpoint({
  method: 'GET',
  path: '/usage',
  summary: 'Add up what was used, in groups',
  tag,
  needs: 'read',
  query: UsageQuery,
  answer: UsageSums,
  mediaTypes: ['application/json', 'text/csv'],
})

export const listUsage = endpoint({
  method: 'GET',
  path: '/usage/rows',
  summary: 'List the rows of the ledger, newest first',
  tag,
  needs: 'read',
  query: UsageRowsQuery,
  answer: listOf(UsageRowView),
  mediaTypes: ['application/json', 'text/csv'],
  paging: byUsage,
})

export const projectUsage = endpoint({
  method: 'GET',
  path: '/usage/projection',
  summary: 'When a budget is used up at the pace of the last 24 hours',
  tag,
  needs: 'read',
  query: ProjectionQuery,
  answer: Projection,
})
