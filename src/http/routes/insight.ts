import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import * as api from '../../core/api/insight.ts'
import { Name } from '../../core/shapes/common.ts'
import { bottlenecks, durations, failures, retries, telemetry } from '../../flow/insight/queries.ts'
import { search } from '../../flow/insight/search.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { Asked } from '../../store/server-store.ts'
import { cursorOf, cursorWith, readCursor, valuesIn } from '../cursor.ts'
import { serve } from '../endpoint.ts'
import { periodIn } from '../period.ts'
import { pageSize, wantedId } from '../schema.ts'

/** What people ask of a whole workspace. */

type AskedValues = z.output<typeof api.AskedQuery>

const askedIn = (query: AskedValues): Asked => ({
  ...periodIn(query),
  agent: query.agent,
  taskType: query.taskType,
  // No mission has this number.
  missionId: wantedId(query.mission),
})

export function insightRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  searchRoute(app, kernel)
  failureRoute(app, kernel)
  durationRoute(app, kernel)
  taskRoutes(app, kernel)
  telemetryRoute(app, kernel)
}

function searchRoute(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.search, ({ query, caller }) => {
    const limit = pageSize(query.limit, { usual: api.MOST_FOUND, most: api.MOST_FOUND })
    return search(kernel, caller, query.q ?? '', limit)
  })
}

function failureRoute(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.listFailures, ({ query, caller }) => {
    const before = query.cursor === undefined ? null : readCursor(query.cursor)
    const page = { before, limit: pageSize(query.limit) }
    return failures(kernel, caller, askedIn(query), page, cursorOf)
  })
}

function durationRoute(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.listDurations, ({ query, caller }) => {
    const [after] = query.cursor === undefined ? [null] : valuesIn(query.cursor, z.tuple([Name]))
    const page = { by: query.by, after, limit: pageSize(query.limit) }
    return durations(kernel, caller, askedIn(query), page, (name) => cursorWith([name]))
  })
}

const Place = z.tuple([z.int(), z.int().min(0)])

/** Lists of tasks by a weight. */
function taskRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  const pageIn = ({ cursor, limit }: AskedValues) => ({
    after: cursor === undefined ? null : valuesIn(cursor, Place),
    limit: pageSize(limit),
  })
  const cursorAt = (weight: number, number: number) => cursorWith([weight, number])
  serve(app, api.listRetries, ({ query, caller }) =>
    retries(kernel, caller, askedIn(query), pageIn(query), cursorAt),
  )
  serve(app, api.listBottlenecks, ({ query, caller }) =>
    bottlenecks(kernel, caller, askedIn(query), pageIn(query), cursorAt),
  )
}

function telemetryRoute(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.readTelemetry, ({ query, caller }) => telemetry(kernel, caller, periodIn(query)))
}
