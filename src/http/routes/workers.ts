import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/workers.ts'
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
import { serve } from '../endpoint.ts'

export function workerRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.registerWorker, async ({ body, caller }, reply) => {
    await namedProject(kernel, caller, body.project)
    const { worker, isNew } = await registerWorker(kernel, caller, body)
    return reply.code(isNew ? 201 : 200).send(worker)
  })
  serve(app, api.listWorkers, ({ caller }) => listWorkers(kernel, caller))
  serve(app, api.readWorker, async ({ params, caller }) =>
    showWorker(kernel, caller, await sessionName(kernel, caller, params.id)),
  )
  singleWorker(app, kernel)
  stalledWork(app, kernel)
}

function singleWorker(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.sendWorkerHeartbeat, async ({ params, caller }) =>
    heartbeatWorker(kernel, caller, await sessionName(kernel, caller, params.id)),
  )
  serve(app, api.drainWorker, async ({ params, caller }) =>
    drainWorker(kernel, caller, await sessionName(kernel, caller, params.id)),
  )
  serve(app, api.unregisterWorker, async ({ params, query, caller }, reply) => {
    await unregisterWorker(
      kernel,
      caller,
      await sessionName(kernel, caller, params.id),
      query.reason ?? 'unregistered',
    )
    return reply.code(204).send()
  })
}

function stalledWork(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.requeueStalled, async ({ body, caller }) => ({
    requeued: await requeueStalled(kernel, caller, body.silentMs),
  }))
}
