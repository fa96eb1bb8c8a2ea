import { z } from 'zod'
import { endpoint } from '../../../pure/endpoint.ts'
import { LATEST_MS, valuesOf } from '../../../pure/paging.ts'
import { IdParams, listOf, Name } from '../../../pure/shapes.ts'
import {
  ListedSession,
  SessionBody,
  SessionHeartbeatAnswer,
  SessionMemoryView,
  SessionQuery,
  SessionView,
} from '../shapes.ts'

/** Sessions: the names under which claims are held. */

const tag = 'sessions'
const onSession = { tag, params: IdParams }

export const openSession = endpoint({
  method: 'POST',
  path: '/sessions',
  summary: 'Open a session, or resume an existing one',
  tag,
  needs: 'work',
  body: SessionBody,
  bodyIsOptional: true,
  status: [200, 201],
  answer: SessionView,
})

export const readSession = endpoint({
  method: 'GET',
  path: '/sessions/:id',
  ...onSession,
  summary: 'Read a session: its task log, claims and progress',
  needs: 'read',
  answer: SessionMemoryView,
})

/** Of the last session of a page: when it was started, and its name. */
const byStart = { cursor: valuesOf(z.tuple([z.int().min(0).max(LATEST_MS), Name])) }

export const listSessions = endpoint({
  method: 'GET',
  path: '/sessions',
  summary: 'List sessions, newest first, with what they hold',
  tag,
  needs: 'read',
  query: SessionQuery,
  answer: listOf(ListedSession),
  paging: byStart,
})

const nothing = { body: z.strictObject({}), bodyIsOptional: true } as const

export const sendSessionHeartbeat = endpoint({
  method: 'POST',
  path: '/sessions/:id/heartbeat',
  ...onSession,
  ...nothing,
  summary: 'Send a heartbeat, which renews all claims of the session',
  needs: 'work',
  answer: SessionHeartbeatAnswer,
})

export const endSession = endpoint({
  method: 'DELETE',
  path: '/sessions/:id',
  ...onSession,
  summary: 'End a session and return its claims to the queue',
  needs: 'work',
  status: 204,
  answer: null,
})
