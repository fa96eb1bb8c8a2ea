import { z } from 'zod'
import { endpoint } from '../../../pure/endpoint.ts'
import { IdParams, listOf, Name } from '../../../pure/shapes.ts'
import {
  DrainAnswer,
  ListedSession,
  SessionView,
  StalledAnswer,
  StalledBody,
  WorkerBody,
  WorkerHeartbeatAnswer,
} from '../shapes.ts'

/** Workers: sessions that declared a capacity. */

const Unregister = z.strictObject({ reason: Name.optional() })

const tag = 'workers'
const onWorker = { tag, params: IdParams }

export const registerWorker = endpoint({
  method: 'POST',
  path: '/workers',
  summary: 'Register a worker',
  tag,
  needs: 'work',
  body: WorkerBody,
  status: [200, 201],
  answer: SessionView,
})

export const listWorkers = endpoint({
  method: 'GET',
  path: '/workers',
  summary: 'List workers, newest first, with what they hold',
  tag,
  needs: 'read',
  answer: listOf(ListedSession),
})

export const readWorker = endpoint({
  method: 'GET',
  path: '/workers/:id',
  ...onWorker,
  summary: 'Read a worker',
  needs: 'read',
  answer: SessionView,
})

const nothing = { body: z.strictObject({}), bodyIsOptional: true } as const

export const sendWorkerHeartbeat = endpoint({
  method: 'POST',
  path: '/workers/:id/heartbeat',
  ...onWorker,
  ...nothing,
  summary: 'Send a heartbeat, which renews all claims of the worker',
  needs: 'work',
  answer: WorkerHeartbeatAnswer,
})

export const drainWorker = endpoint({
  method: 'POST',
  path: '/workers/:id/drain',
  ...onWorker,
  ...nothing,
  summary: 'Drain a worker: assign it no new work',
  needs: 'work',
  answer: DrainAnswer,
})

export const unregisterWorker = endpoint({
  method: 'DELETE',
  path: '/workers/:id',
  ...onWorker,
  query: Unregister,
  summary: 'Unregister a worker and return its claims to the queue',
  needs: 'work',
  status: 204,
  answer: null,
})

export const requeueStalled = endpoint({
  method: 'POST',
  path: '/workers/requeue-stalled',
  summary: 'Requeue tasks whose holders show no activity',
  tag: 'workers',
  needs: 'operate',
  body: StalledBody,
  bodyIsOptional: true,
  answer: StalledAnswer,
})
