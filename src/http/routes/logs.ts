import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import * as api from '../../core/api/logs.ts'
import type { ListAnswer } from '../../core/shapes/common.ts'
import type { LogQuery } from '../../core/shapes/logs.ts'
import { addToLog, readCoordinatorLog, readTaskLog } from '../../flow/logs.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { LogPage } from '../../store/server-store.ts'
import { serve } from '../endpoint.ts'
import { pageSize } from '../schema.ts'

type Query = z.output<typeof LogQuery>

export function logRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.readTaskLog, ({ params, query, caller }) =>
    pageOfLog(query, (page) => readTaskLog(kernel, caller, params.id, query, page)),
  )

  serve(app, api.addToTaskLog, ({ params, body, caller }) => addToLog(kernel, caller, params.id, body))

  serve(app, api.readCoordinatorLog, ({ query, caller }) =>
    pageOfLog(query, (page) => readCoordinatorLog(kernel, caller, query, page)),
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
