import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/children.ts'
import { addChild } from '../../flow/missions/children.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'
import { etag } from '../versions.ts'
import { forSingleTask } from './tasks.ts'

/** Tasks that holders add to their missions. */
export function childRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.addChild, async ({ params, body: { session, generation, ...said }, caller }, reply) => {
    const fence = { session, generation }
    const task = await addChild(kernel, caller, params.id, said, fence).catch(forSingleTask)
    return reply.code(201).header('etag', etag(task.version)).send(task)
  })
}
