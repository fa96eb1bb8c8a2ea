import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import { DURATION_GROUPS } from '../../core/outcomes.ts'
import { Digits, Instant, Name, Uuid } from '../../core/shapes/common.ts'
import {
  Bottlenecks,
  Durations,
  Failures,
  Retries,
  SearchAnswer,
  Telemetry,
} from '../../core/shapes/insight.ts'
import { bottlenecks, durations, failures, retries, telemetry } from '../../flow/insight/queries.ts'
import { search } from '../../flow/insight/search.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { Asked } from '../../store/server-store.ts'
import { cursorOf, cursorWith, readCursor, valuesIn } from '../cursor.ts'
import { numberOr, Page, pageSize, route, wantedId } from '../schema.ts'

/** What people ask of a whole workspace. */

const tag = 'insight'
const MOST_FOUND = 20

const SearchQuery = z.strictObject({
  q: Name.optional().describe('A key or its beginning, an id or its beginning, part of a title or a name'),
  limit: Digits.optional().describe(`At most ${MOST_FOUND}`),
})

const Period = {
  from: Instant.optional().describe('Without it, a day before the end'),
  to: Instant.optional().describe('Without it, now'),
}
const PeriodQuery = z.strictObject(Period)
const AskedQuery = z.strictObject({
  ...Period,
  ...Page,
  agent: Name.optional().describe('It held the task last'),
  taskType: Name.optional(),
  mission: Uuid.optional(),
})
const DurationQuery = AskedQuery.extend({
  by: z.enum(DURATION_GROUPS).default('taskType').describe('What the groups have in common'),
})
type AskedValues = z.output<typeof AskedQuery>

function periodIn({ from, to }: z.output<typeof PeriodQuery>): Pick<Asked, 'from' | 'to'> {
  const [began, ended] = [from, to].map((text) => (text === undefined ? null : Date.parse(text)))
  if (began != null && ended != null && began >= ended)
    throw Refused.field('VALIDATION_FAILED', 'to', 'must be later than "from"')
  return { from: began ?? null, to: ended ?? null }
}

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
  app.get<{ Querystring: z.output<typeof SearchQuery> }>(
    '/search',
    route({
      summary: 'Find tasks, missions, agents and runs by a few letters',
      tag,
      needs: 'read',
      query: SearchQuery,
      answer: SearchAnswer,
    }),
    ({ query, caller }) => {
      const limit = Math.min(Math.max(numberOr(query.limit, MOST_FOUND), 1), MOST_FOUND)
      return search(kernel, caller, query.q ?? '', limit)
    },
  )
}

function failureRoute(app: FastifyInstance, kernel: ServerKernel): void {
  app.get<{ Querystring: AskedValues }>(
    '/insight/failures',
    route({
      summary: 'List what failed within a period, newest first',
      tag,
      needs: 'read',
      query: AskedQuery,
      answer: Failures,
    }),
    ({ query, caller }) => {
      const before = query.cursor === undefined ? null : readCursor(query.cursor)
      const page = { before, limit: pageSize(query.limit) }
      return failures(kernel, caller, askedIn(query), page, cursorOf)
    },
  )
}

function durationRoute(app: FastifyInstance, kernel: ServerKernel): void {
  app.get<{ Querystring: z.output<typeof DurationQuery> }>(
    '/insight/durations',
    route({
      summary: 'Read how long tasks waited and took that ended within a period, by group',
      tag,
      needs: 'read',
      query: DurationQuery,
      answer: Durations,
    }),
    ({ query, caller }) => {
      const [after] = query.cursor === undefined ? [null] : valuesIn(query.cursor, z.tuple([Name]))
      const page = { by: query.by, after, limit: pageSize(query.limit) }
      return durations(kernel, caller, askedIn(query), page, (name) => cursorWith([name]))
    },
  )
}

const Place = z.tuple([z.int(), z.int().min(0)])

/** Lists of tasks by a weight. */
function taskRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  const pageIn = ({ cursor, limit }: AskedValues) => ({
    after: cursor === undefined ? null : valuesIn(cursor, Place),
    limit: pageSize(limit),
  })
  const cursorAt = (weight: number, number: number) => cursorWith([weight, number])
  app.get<{ Querystring: AskedValues }>(
    '/insight/retries',
    route({
      summary:
        'List tasks that ended within a period and were tried more than once, and how many of them succeeded',
      tag,
      needs: 'read',
      query: AskedQuery,
      answer: Retries,
    }),
    ({ query, caller }) => retries(kernel, caller, askedIn(query), pageIn(query), cursorAt),
  )
  app.get<{ Querystring: AskedValues }>(
    '/insight/bottlenecks',
    route({
      summary: 'List tasks that ended within a period and kept others waiting longest',
      tag,
      needs: 'read',
      query: AskedQuery,
      answer: Bottlenecks,
    }),
    ({ query, caller }) => bottlenecks(kernel, caller, askedIn(query), pageIn(query), cursorAt),
  )
}

function telemetryRoute(app: FastifyInstance, kernel: ServerKernel): void {
  app.get<{ Querystring: z.output<typeof PeriodQuery> }>(
    '/telemetry',
    route({
      summary: 'Read how well agents, models, retries, verifiers and estimates did within a period',
      tag,
      needs: 'read',
      query: PeriodQuery,
      answer: Telemetry,
    }),
    ({ query, caller }) => telemetry(kernel, caller, periodIn(query)),
  )
}
