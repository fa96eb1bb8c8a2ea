import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { Digits, Uuid } from '../../pure/shapes.ts'
import { EventFilterQuery, EventFrame, EventView } from './shapes.ts'

/** The log, as it is written. */

const StreamQuery = z.strictObject({ after: Digits.optional(), ...EventFilterQuery })

export const streamEvents = endpoint({
  method: 'GET',
  path: '/events/stream',
  summary: 'Stream events as server-sent events; resumes after Last-Event-ID',
  tag: 'events',
  needs: 'read',
  query: StreamQuery,
  answer: EventView,
  mediaTypes: ['text/event-stream'],
})

/** Clients send FollowOutput. */
export const openEventSocket = endpoint({
  method: 'GET',
  path: '/events/ws',
  summary: 'Stream events over a WebSocket, from ?after= on; with ?output= also the live output of agents',
  description:
    'A client may send {"output":[run ids]}, {"output":"all"} or {"output":[]} to change whose output it gets.',
  tag: 'events',
  needs: 'read',
  query: StreamQuery.extend({
    output: z
      .string()
      .regex(/^(all|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/)
      .optional()
      .describe('Live output of agents: of "all" runs, or of the run with this id'),
    ticket: z
      .string()
      .regex(/^[A-Za-z0-9_-]{43}$/)
      .optional()
      .describe('From POST /session/ticket, instead of a key: browsers cannot send headers with a socket'),
    workspace: Uuid.optional().describe('Like X-Workspace-Id'),
  }),
  status: 101,
  answer: EventFrame,
})
