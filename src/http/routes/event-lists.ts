import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/events.ts'
import { eventFilter } from '../../flow/event-filters.ts'
import { listEvents } from '../../flow/event-views.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'
import { numberOr, pageSize } from '../schema.ts'

/** The log page by page: the whole of it, and what is about one task or one mission. */

const pageIn = ({ after, limit }: { after?: string | undefined; limit?: string | undefined }) => ({
  after: numberOr(after, 0),
  limit: pageSize(limit),
})

export function eventLists(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.listEvents, async ({ query, caller }) =>
    listEvents(kernel, caller, await eventFilter(kernel, caller, query), pageIn(query)),
  )

  serve(app, api.listEventsOfTask, async ({ params, query, caller }) => {
    const filter = await eventFilter(kernel, caller, { ...query, task: params.id })
    return listEvents(kernel, caller, filter, pageIn(query))
  })

  serve(app, api.listEventsOfMission, async ({ params, query, caller }) => {
    const filter = await eventFilter(kernel, caller, { ...query, mission: params.id })
    return listEvents(kernel, caller, filter, pageIn(query))
  })
}
