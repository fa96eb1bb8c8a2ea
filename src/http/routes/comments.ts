import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/comments.ts'
import { commentOnMission, commentOnTask, commentsOfMission, commentsOfTask } from '../../flow/comments.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'
import { pageSize } from '../schema.ts'

/** Threads of tasks and missions. */
export function commentRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  for (const { adding, listing, add, list } of [
    { adding: api.commentOnTask, listing: api.listCommentsOfTask, add: commentOnTask, list: commentsOfTask },
    {
      adding: api.commentOnMission,
      listing: api.listCommentsOfMission,
      add: commentOnMission,
      list: commentsOfMission,
    },
  ]) {
    serve(app, adding, async ({ params, body, caller }, reply) =>
      reply.code(201).send(await add(kernel, caller, params.id, body)),
    )
    serve(app, listing, ({ params, query, caller }) =>
      list(kernel, caller, params.id, { after: query.after, limit: pageSize(query.limit) }),
    )
  }
}
