import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/dependencies.ts'
import { addDependencies } from '../../flow/dependencies.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'

export function dependencyRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.addDependencies, async ({ params, body, caller }, reply) => {
    const task = await addDependencies(kernel, caller, params.id, body)
    return reply.header('etag', `"${task.version}"`).send(task)
  })
}
