import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { NotedAnswer } from '../../core/shapes/claims.ts'
import { type ListAnswer, listOf } from '../../core/shapes/common.ts'
import { CoordinatorEntryView, LogBody, LogEntryView, LogQuery } from '../../core/shapes/logs.ts'
import { addToLog, readCoordinatorLog, readTaskLog } from '../../flow/logs.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { LogPage } from '../../store/server-store.ts'
import { IdParams, pageSize, route } from '../schema.ts'

type Query = z.output<typeof LogQuery>

export function logRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  const tag = 'logs'

  app.get<{ Params: { id: string }; Querystring: Query }>(
    '/tasks/:id/logs',
    route({
      summary: 'Read the log of a task, newest first',
      tag,
      needs: 'read',
      params: IdParams,
      query: LogQuery,
      answer: listOf(LogEntryView),
    }),
    ({ params, query, caller }) =>
      pageOfLog(query, (page) => readTaskLog(kernel, caller, params.id, query, page)),
  )

  app.post<{ Params: { id: string }; Body: z.output<typeof LogBody> }>(
    '/tasks/:id/logs',
    route({
      summary: 'Add lines to the log of a claimed task',
      description:
        'For information that people need about a task: decisions, findings, warnings. All lines are written or none, and only under the current claim. The output of a program belongs in the log of its run: lines are kept forever, and every reader of the events gets them.',
      tag,
      needs: 'work',
      params: IdParams,
      body: LogBody,
      answer: NotedAnswer,
    }),
    ({ params, body, caller }) => addToLog(kernel, caller, params.id, body),
  )

  app.get<{ Querystring: Query }>(
    '/coordinator/logs',
    route({
      summary: 'Read the log of agents, workers and the workspace, and of tasks whose holders were lost',
      tag,
      needs: 'admin',
      query: LogQuery,
      answer: listOf(CoordinatorEntryView),
    }),
    ({ query, caller }) => pageOfLog(query, (page) => readCoordinatorLog(kernel, caller, query, page)),
  )
}

/** Reads one row more than fits, which shows whether there is another page. */
async function pageOfLog<T extends { seq: number }>(
  { after, limit, order = 'desc' }: Query,
  read: (page: LogPage) => Promise<T[]>,
): Promise<ListAnswer<T>> {
  const size = pageSize(limit)
  const entries = await read({ order, after: after === undefined ? null : Number(after), limit: size + 1 })
  const items = entries.slice(0, size)
  return { items, nextCursor: entries.length > size ? String(items.at(-1)!.seq) : null }
}
