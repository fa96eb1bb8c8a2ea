import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { CommentBody, CommentList, CommentView } from '../../core/shapes/comments.ts'
import { Digits, Uuid } from '../../core/shapes/common.ts'
import { MissionParams } from '../../core/shapes/missions.ts'
import { commentOnMission, commentOnTask, commentsOfMission, commentsOfTask } from '../../flow/comments.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { IdParams, pageSize, route } from '../schema.ts'

/** Threads of tasks and missions. */

const tag = 'comments'

const CommentQuery = z.strictObject({
  after: Uuid.optional().describe('The id of a comment: those that were written after it'),
  limit: Digits.optional(),
})

type OnThread = { Params: { id: string } }

/** Those who work may comment, too: an agent, on its own task and its mission. */
export function commentRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  for (const { what, at, params: named, add, list } of [
    { what: 'task', at: '/tasks/:id/comments', params: IdParams, add: commentOnTask, list: commentsOfTask },
    {
      what: 'mission',
      at: '/missions/:id/comments',
      params: MissionParams,
      add: commentOnMission,
      list: commentsOfMission,
    },
  ]) {
    app.post<OnThread & { Body: z.output<typeof CommentBody> }>(
      at,
      route({
        summary: `Comment on a ${what}: the agent that works on it next is told`,
        tag,
        needs: 'work',
        params: named,
        body: CommentBody,
        status: 201,
        answer: CommentView,
      }),
      async ({ params, body, caller }, reply) =>
        reply.code(201).send(await add(kernel, caller, params.id, body)),
    )
    app.get<OnThread & { Querystring: z.output<typeof CommentQuery> }>(
      at,
      route({
        summary: `List the comments on a ${what}, oldest first`,
        tag,
        needs: 'read',
        params: named,
        query: CommentQuery,
        answer: CommentList,
      }),
      ({ params, query, caller }) =>
        list(kernel, caller, params.id, { after: query.after, limit: pageSize(query.limit) }),
    )
  }
}
