import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import { Generation, Name, ShortText } from '../../core/shapes/common.ts'
import type { Kernel } from '../../flow/kernel.ts'
import { compareWithAccepted, listRejected, promoteResult } from '../../flow/rejected-results.ts'
import type { Place } from '../../store/postgres/rejected-results.ts'
import { Page, pageSize, route } from '../schema.ts'

const ListQuery = z.strictObject({
  ...Page,
  accepted: z.literal('false').optional(),
})
const ResultParams = z.object({ id: Name, ref: Name })
const PromoteBody = z.strictObject({ reason: ShortText.optional() })

function placeIn(cursor: string): Place {
  const [, at, task, generation, hash] =
    /^(\d{1,15})-(\d{1,16})-(\d{1,10})-([0-9a-f]{1,64})$/.exec(cursor) ?? []
  if (hash === undefined || !Generation.safeParse(Number(generation)).success)
    throw Refused.field('VALIDATION_FAILED', 'cursor', 'is not a cursor of this list')
  return [Number(at), Number(task), Number(generation), hash]
}

export function resultRoutes(app: FastifyInstance, kernel: Kernel): void {
  const tag = 'results'
  const onResult = { tag, params: ResultParams }

  app.get<{ Querystring: z.output<typeof ListQuery> }>(
    '/results',
    route({ summary: 'Rejected results, newest first', tag, needs: 'read', query: ListQuery }),
    async ({ query, caller }) => {
      const limit = pageSize(query.limit)
      const after = query.cursor === undefined ? undefined : placeIn(query.cursor)
      const results = await listRejected(kernel, caller, after, limit + 1)
      const shown = results.slice(0, limit)
      return {
        items: shown.map(({ view }) => view),
        nextCursor: results.length > limit ? shown.at(-1)!.place.join('-') : null,
      }
    },
  )

  app.get<{ Params: { id: string; ref: string } }>(
    '/tasks/:id/results/:ref/diff',
    route({ ...onResult, summary: 'Compare a result with the accepted one (JSON Patch)', needs: 'read' }),
    ({ params, caller }) => compareWithAccepted(kernel, caller, params.id, params.ref),
  )

  app.post<{ Params: { id: string; ref: string }; Body: z.output<typeof PromoteBody> | undefined }>(
    '/tasks/:id/results/:ref/promote',
    route({
      ...onResult,
      summary: 'Take a rejected result after all',
      needs: 'operate',
      body: PromoteBody,
      bodyIsOptional: true,
    }),
    ({ params, body, caller }) => promoteResult(kernel, caller, params.id, params.ref, body?.reason ?? null),
  )
}
