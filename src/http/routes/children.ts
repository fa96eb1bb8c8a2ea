import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { ChildBody } from '../../core/shapes/children.ts'
import { TaskView } from '../../core/shapes/tasks.ts'
import { addChild } from '../../flow/missions/children.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { IdParams, route } from '../schema.ts'
import { etag } from '../versions.ts'
import { forSingleTask } from './tasks.ts'

/** Tasks that holders add to their missions. */
export function childRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  app.post<{ Params: { id: string }; Body: z.output<typeof ChildBody> }>(
    '/tasks/:id/children',
    route({
      summary: 'Add a task to the mission of a task that you hold',
      tag: 'claims',
      needs: 'work',
      params: IdParams,
      body: ChildBody,
      status: 201,
      answer: TaskView,
    }),
    async ({ params, body: { session, generation, ...said }, caller }, reply) => {
      const fence = { session, generation }
      const task = await addChild(kernel, caller, params.id, said, fence).catch(forSingleTask)
      return reply.code(201).header('etag', etag(task.version)).send(task)
    },
  )
}
