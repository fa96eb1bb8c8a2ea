import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/dead-letters.ts'
import { retryDeadLetters } from '../../flow/dead-letters.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'
import { taskPage } from '../task-list.ts'

export function deadLetterRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.listDeadLetters, ({ query, caller }) =>
    taskPage(kernel, caller, { deadLetters: true }, query),
  )

  serve(app, api.retryDeadLetters, ({ body, caller }) =>
    retryDeadLetters(kernel, caller, { ...body, reason: body.reason ?? null }),
  )
}
