import { z } from 'zod'
import { MissionParams } from '../../kinds/mission/shapes/missions.ts'
import { endpoint } from '../../pure/endpoint.ts'
import { afterSeq } from '../../pure/paging.ts'
import { Digits, IdParams, LARGEST_PAGE, limitUpTo } from '../../pure/shapes.ts'
import { EventFilterQuery, EventList } from './shapes.ts'

/** The log, page by page. */

const { task: _task, mission: _mission, ...WithinOne } = EventFilterQuery
const position = { after: Digits.optional(), limit: limitUpTo(LARGEST_PAGE) }
const Query = z.strictObject({ ...position, ...EventFilterQuery })
const QueryWithinOne = z.strictObject({ ...position, ...WithinOne })
const QueryOfMission = QueryWithinOne.extend({
  before: Digits.optional().describe(
    'The newest events before this number, for reading backwards; "after" is not given then, and there is no next cursor',
  ),
})

export const listEvents = endpoint({
  method: 'GET',
  path: '/events',
  summary: 'List events, oldest first: all of them, or those that match',
  tag: 'events',
  needs: 'read',
  query: Query,
  answer: EventList,
  paging: afterSeq,
})

export const listEventsOfTask = endpoint({
  method: 'GET',
  path: '/tasks/:id/events',
  summary: 'List the events of a task',
  tag: 'tasks',
  needs: 'read',
  params: IdParams,
  query: QueryWithinOne,
  answer: EventList,
  paging: afterSeq,
})

export const listEventsOfMission = endpoint({
  method: 'GET',
  path: '/missions/:id/events',
  summary: 'List the events of a mission and of its tasks, oldest first',
  tag: 'missions',
  needs: 'read',
  params: MissionParams,
  query: QueryOfMission,
  answer: EventList,
  paging: afterSeq,
})
