import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import { Generation, listOf, Name, ShortText } from '../../core/shapes/common.ts'
import {
  PromoteAnswer,
  RejectedResult,
  ResultDiff,
  ResultOfTask,
  ResultView,
} from '../../core/shapes/results.ts'
import {
  compareWithAccepted,
  promoteResult,
  rejectedPage,
  resultPage,
  showResult,
} from '../../flow/rejected-results.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { ResultPosition } from '../../store/server-store.ts'
import { IdParams, include, included, LARGEST_PAGE, Page, pageSize, route } from '../schema.ts'

const ListQuery = z.strictObject({
  ...Page,
  include: include('result'),
  accepted: z.literal('false').optional(),
})
/** All results, unless they are too large for one answer. */
const OfTaskQuery = z.strictObject(Page)
const ResultParams = z.object({ id: Name, ref: Name })
const PromoteBody = z.strictObject({ reason: ShortText.optional() })

function placeIn(cursor: string | undefined): ResultPosition | undefined {
  if (cursor === undefined) return undefined
  const [, at, task, generation, hash] =
    /^(\d{1,15})-(\d{1,16})-(\d{1,10})-([0-9a-f]{1,64})$/.exec(cursor) ?? []
  if (hash === undefined || !Generation.safeParse(Number(generation)).success)
    throw Refused.field('VALIDATION_FAILED', 'cursor', 'is not a cursor of this list')
  return [Number(at), Number(task), Number(generation), hash]
}

export function resultRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  const tag = 'results'
  const onResult = { tag, params: ResultParams }

  app.get<{ Querystring: z.output<typeof ListQuery> }>(
    '/results',
    route({
      summary: 'List rejected results, newest first',
      tag,
      needs: 'read',
      query: ListQuery,
      answer: listOf(RejectedResult),
    }),
    async ({ query, caller }) =>
      rejectedPage(kernel, caller, {
        after: placeIn(query.cursor),
        limit: pageSize(query.limit),
        withData: included(query.include, 'result').has('result'),
      }),
  )

  app.get<{ Params: { id: string }; Querystring: z.output<typeof OfTaskQuery> }>(
    '/tasks/:id/results',
    route({
      summary: 'List the results of a task, accepted and rejected',
      tag: 'tasks',
      needs: 'read',
      params: IdParams,
      query: OfTaskQuery,
      answer: listOf(ResultView),
    }),
    async ({ params, query, caller }) =>
      resultPage(kernel, caller, params.id, {
        after: placeIn(query.cursor),
        limit: query.limit === undefined ? LARGEST_PAGE : pageSize(query.limit),
      }),
  )

  app.get<{ Params: { id: string; ref: string } }>(
    '/tasks/:id/results/:ref',
    route({ ...onResult, summary: 'Read a result', needs: 'read', answer: ResultOfTask }),
    ({ params, caller }) => showResult(kernel, caller, params.id, params.ref),
  )

  app.get<{ Params: { id: string; ref: string } }>(
    '/tasks/:id/results/:ref/diff',
    route({
      ...onResult,
      summary: 'Compare a result with the accepted one (JSON Patch)',
      needs: 'read',
      answer: ResultDiff,
    }),
    ({ params, caller }) => compareWithAccepted(kernel, caller, params.id, params.ref),
  )

  app.post<{ Params: { id: string; ref: string }; Body: z.output<typeof PromoteBody> | undefined }>(
    '/tasks/:id/results/:ref/promote',
    route({
      ...onResult,
      summary: 'Promote a rejected result',
      needs: 'operate',
      body: PromoteBody,
      bodyIsOptional: true,
      answer: PromoteAnswer,
    }),
    ({ params, body, caller }) => promoteResult(kernel, caller, params.id, params.ref, body?.reason ?? null),
  )
}
