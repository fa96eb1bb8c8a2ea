import { z } from 'zod'
import { DURATION_GROUPS } from '../../kinds/task/rules/outcomes.ts'
import { endpoint } from '../../pure/endpoint.ts'
import { byId, valuesOf } from '../../pure/paging.ts'
import { Instant, limitUpTo, Name, Page, Uuid } from '../../pure/shapes.ts'
import {
  Bottlenecks,
  Causes,
  Durations,
  Failures,
  Insight,
  Retries,
  SearchAnswer,
  Slowest,
  Telemetry,
} from './shapes.ts'

/** What people ask of a whole workspace. */

const tag = 'insight'
const MOST_FOUND = 20

const SearchQuery = z.strictObject({
  q: Name.optional().describe(
    'A key or its beginning, a number, an id or its beginning, part of a title, a name or an error',
  ),
  limit: limitUpTo(MOST_FOUND, `At most ${MOST_FOUND}`),
})

const Period = {
  from: Instant.optional().describe('Without it, a day before the end'),
  to: Instant.optional().describe('Without it, now'),
}
const PeriodQuery = z.strictObject(Period)
export const AskedQuery = z.strictObject({
  ...Period,
  ...Page,
  agent: Name.optional().describe('It held the task last'),
  taskType: Name.optional(),
  mission: Uuid.optional(),
})
/** Of the last task of a page: its weight, and its number. */
const byWeight = { cursor: valuesOf(z.tuple([z.int(), z.int().min(0)])) }
const DurationQuery = AskedQuery.extend({
  by: z.enum(DURATION_GROUPS).default('taskType').describe('What the groups have in common'),
})

export const search = endpoint({
  method: 'GET',
  path: '/search',
  summary: 'Find tasks, missions, agents and runs by a few letters',
  tag,
  needs: 'read',
  query: SearchQuery,
  answer: SearchAnswer,
  paging: { usual: MOST_FOUND, most: MOST_FOUND },
})

export const listFailures = endpoint({
  method: 'GET',
  path: '/insight/failures',
  summary: 'List what failed within a period, newest first',
  tag,
  needs: 'read',
  query: AskedQuery.extend({ cause: Name.optional().describe('One of /insight/causes') }),
  answer: Failures,
  paging: byId,
})

export const listCauses = endpoint({
  method: 'GET',
  path: '/insight/causes',
  summary: 'Count what failed within a period by why it did',
  tag,
  needs: 'read',
  query: PeriodQuery,
  answer: Causes,
})

export const listSlowest = endpoint({
  method: 'GET',
  path: '/insight/slowest',
  summary: 'List tasks that ended within a period, those that took longest first',
  tag,
  needs: 'read',
  query: AskedQuery,
  answer: Slowest,
  paging: byWeight,
})

export const listDurations = endpoint({
  method: 'GET',
  path: '/insight/durations',
  summary: 'Read how long tasks that ended within a period waited and took, by group',
  tag,
  needs: 'read',
  query: DurationQuery,
  answer: Durations,
  paging: { cursor: valuesOf(z.tuple([Name])) },
})

export const listRetries = endpoint({
  method: 'GET',
  path: '/insight/retries',
  summary:
    'List tasks that ended within a period and were tried more than once, and how many of them succeeded',
  tag,
  needs: 'read',
  query: AskedQuery,
  answer: Retries,
  paging: byWeight,
})

export const listBottlenecks = endpoint({
  method: 'GET',
  path: '/insight/bottlenecks',
  summary: 'List tasks that ended within a period and kept others waiting longest',
  tag,
  needs: 'read',
  query: AskedQuery,
  answer: Bottlenecks,
  paging: byWeight,
})

export const readInsight = endpoint({
  method: 'GET',
  path: '/insight',
  summary: 'Read causes, the slowest tasks and the bottlenecks of a period together, the first of each',
  tag,
  needs: 'read',
  query: PeriodQuery.extend({ limit: limitUpTo(MOST_FOUND, `Of each, at most ${MOST_FOUND}`) }),
  answer: Insight,
  paging: { usual: MOST_FOUND, most: MOST_FOUND },
})

export const readTelemetry = endpoint({
  method: 'GET',
  path: '/telemetry',
  summary: 'Read how well agents, models, retries, verifiers and estimates did within a period',
  tag,
  needs: 'read',
  query: PeriodQuery,
  answer: Telemetry,
})
