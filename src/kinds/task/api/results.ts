import { z } from 'zod'
import { endpoint } from '../../../pure/endpoint.ts'
import { byResult } from '../../../pure/paging.ts'
import { IdParams, include, LARGEST_PAGE, listOf, Name, Page, ShortText } from '../../../pure/shapes.ts'
import { PromoteAnswer, RejectedResult, ResultDiff, ResultOfTask, ResultView } from '../shapes/results.ts'

/** Results of tasks, accepted and rejected. */

const ListQuery = z.strictObject({
  ...Page,
  include: include('result'),
  accepted: z.literal('false').optional(),
})
/** All results, unless they are too large for one answer. */
const OfTaskQuery = z.strictObject(Page)
const ResultParams = z.object({ id: Name, ref: Name })
const PromoteBody = z.strictObject({ reason: ShortText.optional() })

const tag = 'results'
const onResult = { tag, params: ResultParams }

export const listRejectedResults = endpoint({
  method: 'GET',
  path: '/results',
  summary: 'List rejected results, newest first',
  tag,
  needs: 'read',
  query: ListQuery,
  answer: listOf(RejectedResult),
  paging: byResult,
})

export const listResultsOfTask = endpoint({
  method: 'GET',
  path: '/tasks/:id/results',
  summary: 'List the results of a task, accepted and rejected',
  tag: 'tasks',
  needs: 'read',
  params: IdParams,
  query: OfTaskQuery,
  answer: listOf(ResultView),
  paging: { ...byResult, usual: LARGEST_PAGE },
})

export const readResult = endpoint({
  method: 'GET',
  path: '/tasks/:id/results/:ref',
  ...onResult,
  summary: 'Read a result',
  needs: 'read',
  answer: ResultOfTask,
})

export const compareResult = endpoint({
  method: 'GET',
  path: '/tasks/:id/results/:ref/diff',
  ...onResult,
  summary: 'Compare a result with the accepted one (JSON Patch)',
  needs: 'read',
  answer: ResultDiff,
})

export const promoteResult = endpoint({
  method: 'POST',
  path: '/tasks/:id/results/:ref/promote',
  ...onResult,
  summary: 'Promote a rejected result',
  needs: 'operate',
  body: PromoteBody,
  bodyIsOptional: true,
  answer: PromoteAnswer,
})
