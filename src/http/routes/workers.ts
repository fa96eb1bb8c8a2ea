import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { type AnswerOf, listOf, Name } from '../../core/shapes/common.ts'
import {
  DrainAnswer,
  SessionView,
  StalledAnswer,
  StalledBody,
  WorkerBody,
  WorkerHeartbeatAnswer,
} from '../../core/shapes/sessions.ts'
import { namedProject } from '../../flow/projects.ts'
import { sessionName } from '../../flow/sessions.ts'
import {
  drainWorker,
  heartbeatWorker,
  listWorkers,
  registerWorker,
  requeueStalled,
  showWorker,
  unregisterWorker,
} from '../../flow/workers.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { IdParams, route } from '../schema.ts'

const Unregister = z.strictObject({ reason: Name.optional() })

const tag = 'workers'
const onWorker = { tag, params: IdParams }

export function workerRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  app.post<{ Body: z.output<typeof WorkerBody> }>(
    '/workers',
    route({
      summary: 'Register a worker',
      tag,
      needs: 'work',
      body: WorkerBody,
      status: [200, 201],
      answer: SessionView,
    }),
    async ({ body, caller }, reply) => {
      await namedProject(kernel, caller, body.project)
      const { worker, isNew } = await registerWorker(kernel, caller, body)
      return reply.code(isNew ? 201 : 200).send(worker)
    },
  )
  app.get(
    '/workers',
    route({ summary: 'List workers, newest first', tag, needs: 'read', answer: listOf(SessionView) }),
    ({ caller }) => listWorkers(kernel, caller),
  )
  app.get<{ Params: { id: string } }>(
    '/workers/:id',
    route({ ...onWorker, summary: 'Read a worker', needs: 'read', answer: SessionView }),
    async ({ params, caller }) => showWorker(kernel, caller, await sessionName(kernel, caller, params.id)),
  )
  singleWorker(app, kernel)
  stalledWork(app, kernel)
}

function singleWorker(app: FastifyInstance, kernel: ServerKernel): void {
  const nothing = { body: z.strictObject({}), bodyIsOptional: true }
  app.post<{ Params: { id: string } }>(
    '/workers/:id/heartbeat',
    route({
      ...onWorker,
      ...nothing,
      summary: 'Send a heartbeat, which renews all claims of the worker',
      needs: 'work',
      answer: WorkerHeartbeatAnswer,
    }),
    async ({ params, caller }) =>
      heartbeatWorker(kernel, caller, await sessionName(kernel, caller, params.id)),
  )
  app.post<{ Params: { id: string } }>(
    '/workers/:id/drain',
    route({
      ...onWorker,
      ...nothing,
      summary: 'Drain a worker: assign it no new work',
      needs: 'work',
      answer: DrainAnswer,
    }),
    async ({ params, caller }) => drainWorker(kernel, caller, await sessionName(kernel, caller, params.id)),
  )
  app.delete<{ Params: { id: string }; Querystring: z.output<typeof Unregister> }>(
    '/workers/:id',
    route({
      ...onWorker,
      query: Unregister,
      summary: 'Unregister a worker and return its claims to the queue',
      needs: 'work',
      status: 204,
      answer: null,
    }),
    async ({ params, query, caller }, reply) => {
      await unregisterWorker(
        kernel,
        caller,
        await sessionName(kernel, caller, params.id),
        query.reason ?? 'unregistered',
      )
      return reply.code(204).send()
    },
  )
}

function stalledWork(app: FastifyInstance, kernel: ServerKernel): void {
  app.post<{ Body: z.output<typeof StalledBody> }>(
    '/workers/requeue-stalled',
    route({
      summary: 'Requeue tasks whose holders show no activity',
      tag: 'workers',
      needs: 'operate',
      body: StalledBody,
      bodyIsOptional: true,
      answer: StalledAnswer,
    }),
    async ({ body, caller }): Promise<AnswerOf<typeof StalledAnswer>> => ({
      requeued: await requeueStalled(kernel, caller, body.silentMs),
    }),
  )
}
