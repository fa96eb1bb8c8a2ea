import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { AnswerOf } from '../../core/shapes/common.ts'
import { Digits } from '../../core/shapes/common.ts'
import { EventFilterQuery, EventList } from '../../core/shapes/events.ts'
import { MissionParams } from '../../core/shapes/missions.ts'
import { eventFilter } from '../../flow/event-filters.ts'
import { listEvents } from '../../flow/event-views.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { IdParams, numberOr, pageSize, route } from '../schema.ts'

/** The log page by page: the whole of it, and what is about one task or one mission. */

const { task: _task, mission: _mission, ...WithinOne } = EventFilterQuery
const position = { after: Digits.optional(), limit: Digits.optional() }
const Query = z.strictObject({ ...position, ...EventFilterQuery })
const QueryWithinOne = z.strictObject({ ...position, ...WithinOne })
type Listed = AnswerOf<typeof EventList>
type OfOne = { Params: { id: string }; Querystring: z.output<typeof QueryWithinOne> }

const pageIn = ({ after, limit }: { after?: string | undefined; limit?: string | undefined }) => ({
  after: numberOr(after, 0),
  limit: pageSize(limit),
})

export function eventLists(app: FastifyInstance, kernel: ServerKernel): void {
  app.get<{ Querystring: z.output<typeof Query> }>(
    '/events',
    route({
      summary: 'List events, oldest first: all of them, or those that match',
      tag: 'events',
      needs: 'read',
      query: Query,
      answer: EventList,
    }),
    async ({ query, caller }): Promise<Listed> =>
      listEvents(kernel, caller, await eventFilter(kernel, caller, query), pageIn(query)),
  )

  app.get<OfOne>(
    '/tasks/:id/events',
    route({
      summary: 'List the events of a task',
      tag: 'tasks',
      needs: 'read',
      params: IdParams,
      query: QueryWithinOne,
      answer: EventList,
    }),
    async ({ params, query, caller }): Promise<Listed> => {
      const filter = await eventFilter(kernel, caller, { ...query, task: params.id })
      return listEvents(kernel, caller, filter, pageIn(query))
    },
  )

  app.get<OfOne>(
    '/missions/:id/events',
    route({
      summary: 'List the events of a mission and of its tasks, oldest first',
      tag: 'missions',
      needs: 'read',
      params: MissionParams,
      query: QueryWithinOne,
      answer: EventList,
    }),
    async ({ params, query, caller }): Promise<Listed> => {
      const filter = await eventFilter(kernel, caller, { ...query, mission: params.id })
      return listEvents(kernel, caller, filter, pageIn(query))
    },
  )
}
