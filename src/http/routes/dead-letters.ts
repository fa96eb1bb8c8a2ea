import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { listOf, ShortText, Uuid } from '../../core/shapes/common.ts'
import { TaskView } from '../../core/shapes/tasks.ts'
import { retryDeadLetters } from '../../flow/dead-letters.ts'
import type { Kernel } from '../../flow/kernel.ts'
import { taskView } from '../../flow/views.ts'
import { pageOf, readCursor } from '../cursor.ts'
import { Page, pageSize, route } from '../schema.ts'

const ListQuery = z.strictObject(Page)

const RetryBody = z.strictObject({
  taskIds: z.array(Uuid).min(1).max(1000).optional().describe('These; without them, all up to the limit'),
  limit: z.int().min(1).max(10_000).default(1000),
  reason: ShortText.optional(),
})

export function deadLetterRoutes(app: FastifyInstance, kernel: Kernel): void {
  const tag = 'tasks'

  app.get<{ Querystring: z.output<typeof ListQuery> }>(
    '/dead-letters',
    route({
      summary: 'Tasks that ran out of attempts, newest first',
      tag,
      needs: 'read',
      query: ListQuery,
      answer: listOf(TaskView),
    }),
    async ({ query, caller }) => {
      const limit = pageSize(query.limit)
      const before = query.cursor === undefined ? undefined : readCursor(query.cursor)
      const tasks = await kernel.store.tasks(caller.workspaceId, { deadLetters: true, before }, limit + 1)
      return pageOf(tasks, limit, { view: taskView, idOf: ({ record }) => record.id })
    },
  )

  app.post<{ Body: z.output<typeof RetryBody> }>(
    '/dead-letters/retry',
    route({
      summary: 'Try dead letters again',
      tag,
      needs: 'operate',
      body: RetryBody,
      bodyIsOptional: true,
    }),
    ({ body, caller }) => retryDeadLetters(kernel, caller, { ...body, reason: body.reason ?? null }),
  )
}
