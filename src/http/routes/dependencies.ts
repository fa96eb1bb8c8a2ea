import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { DependenciesBody, TaskView } from '../../core/shapes/tasks.ts'
import { addDependencies } from '../../flow/dependencies.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { IdParams, route } from '../schema.ts'

export function dependencyRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  app.post<{ Params: { id: string }; Body: z.output<typeof DependenciesBody> }>(
    '/tasks/:id/dependencies',
    route({
      summary: 'Add dependencies to a task',
      tag: 'tasks',
      needs: 'operate',
      params: IdParams,
      body: DependenciesBody,
      answer: TaskView,
    }),
    async ({ params, body, caller }, reply) => {
      const task = await addDependencies(kernel, caller, params.id, body)
      return reply.header('etag', `"${task.version}"`).send(task)
    },
  )
}
