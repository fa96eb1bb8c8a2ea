import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/results.ts'
import { Refused } from '../../core/errors.ts'
import { Generation, LARGEST_PAGE } from '../../core/shapes/common.ts'
import {
  compareWithAccepted,
  promoteResult,
  rejectedPage,
  resultPage,
  showResult,
} from '../../flow/rejected-results.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { ResultPosition } from '../../store/server-store.ts'
import { serve } from '../endpoint.ts'
import { included, pageSize } from '../schema.ts'

function placeIn(cursor: string | undefined): ResultPosition | undefined {
  if (cursor === undefined) return undefined
  const [, at, task, generation, hash] =
    /^(\d{1,15})-(\d{1,16})-(\d{1,10})-([0-9a-f]{1,64})$/.exec(cursor) ?? []
  if (hash === undefined || !Generation.safeParse(Number(generation)).success)
    throw Refused.field('VALIDATION_FAILED', 'cursor', 'is not a cursor of this list')
  return [Number(at), Number(task), Number(generation), hash]
}

export function resultRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.listRejectedResults, async ({ query, caller }) =>
    rejectedPage(kernel, caller, {
      after: placeIn(query.cursor),
      limit: pageSize(query.limit),
      withData: included(query.include, 'result').has('result'),
    }),
  )

  serve(app, api.listResultsOfTask, async ({ params, query, caller }) =>
    resultPage(kernel, caller, params.id, {
      after: placeIn(query.cursor),
      limit: pageSize(query.limit, { usual: LARGEST_PAGE }),
    }),
  )

  serve(app, api.readResult, ({ params, caller }) => showResult(kernel, caller, params.id, params.ref))

  serve(app, api.compareResult, ({ params, caller }) =>
    compareWithAccepted(kernel, caller, params.id, params.ref),
  )

  serve(app, api.promoteResult, ({ params, body, caller }) =>
    promoteResult(kernel, caller, params.id, params.ref, body?.reason ?? null),
  )
}
