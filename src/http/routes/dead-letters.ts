import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { RetryBatchAnswer } from '../../core/shapes/claims.ts'
import { listOf, ShortText, Uuid } from '../../core/shapes/common.ts'
import { ListedTask } from '../../core/shapes/tasks.ts'
import { retryDeadLetters } from '../../flow/dead-letters.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { route } from '../schema.ts'
import { TaskPage, taskPage } from '../task-list.ts'

const ListQuery = z.strictObject(TaskPage)

const RetryBody = z.strictObject({
  taskIds: z
    .array(Uuid)
    .min(1)
    .max(1000)
    .optional()
    .describe('The tasks to retry; default: all, up to the limit'),
  limit: z.int().min(1).max(10_000).default(1000),
  reason: ShortText.optional(),
})

export function deadLetterRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  const tag = 'tasks'

  app.get<{ Querystring: z.output<typeof ListQuery> }>(
    '/dead-letters',
    route({
      summary: 'List dead letters (tasks that ran out of attempts), newest first',
      tag,
      needs: 'read',
      query: ListQuery,
      answer: listOf(ListedTask),
    }),
    ({ query, caller }) => taskPage(kernel, caller, { deadLetters: true }, query),
  )

  app.post<{ Body: z.output<typeof RetryBody> }>(
    '/dead-letters/retry',
    route({
      summary: 'Retry dead letters',
      tag,
      needs: 'operate',
      body: RetryBody,
      bodyIsOptional: true,
      answer: RetryBatchAnswer,
    }),
    ({ body, caller }) => retryDeadLetters(kernel, caller, { ...body, reason: body.reason ?? null }),
  )
}
