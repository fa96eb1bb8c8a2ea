import { z } from 'zod'
import { endpoint } from '../../../pure/endpoint.ts'
import { byId } from '../../../pure/paging.ts'
import { listOf, ShortText, Uuid } from '../../../pure/shapes.ts'
import { RetryBatchAnswer } from '../shapes/claims.ts'
import { TaskPage } from '../shapes/lists.ts'
import { ListedTask } from '../shapes/tasks.ts'

/** Tasks that ran out of attempts. */

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

const tag = 'tasks'

export const listDeadLetters = endpoint({
  method: 'GET',
  path: '/dead-letters',
  summary: 'List dead letters (tasks that ran out of attempts), newest first',
  tag,
  needs: 'read',
  query: ListQuery,
  answer: listOf(ListedTask),
  paging: byId,
})

export const retryDeadLetters = endpoint({
  method: 'POST',
  path: '/dead-letters/retry',
  summary: 'Retry dead letters',
  tag,
  needs: 'operate',
  body: RetryBody,
  bodyIsOptional: true,
  answer: RetryBatchAnswer,
})
