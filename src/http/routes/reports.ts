import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import * as api from '../../core/api/reports.ts'
import type { AnswerOf } from '../../core/shapes/common.ts'
import type { ReportView } from '../../core/shapes/reports.ts'
import {
  listAllReports,
  listReports,
  newestOnMission,
  newestOnTask,
  reportOnMission,
  reportOnTask,
  showReport,
} from '../../flow/reports/reports.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { cursorWith, LATEST_MS, pageOf, readCursor, valuesIn } from '../cursor.ts'
import { serve } from '../endpoint.ts'
import { periodIn } from '../period.ts'
import { pageSize } from '../schema.ts'

/** Reports on missions and their tasks. */
export function reportRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  for (const { reading, reporting, add, read } of [
    { reading: api.readReportOnTask, reporting: api.reportOnTask, add: reportOnTask, read: newestOnTask },
    {
      reading: api.readReportOnMission,
      reporting: api.reportOnMission,
      add: reportOnMission,
      read: newestOnMission,
    },
  ]) {
    serve(app, reading, async (request, reply) => {
      const { params, query, caller } = request
      const version = query.version === undefined ? undefined : Number(query.version)
      return sendReport(request, reply, await read(kernel, caller, params.id, version), query.format)
    })
    serve(app, reporting, async ({ params, body, caller }, reply) =>
      reply.code(201).send(await add(kernel, caller, params.id, body)),
    )
  }
  listAndFind(app, kernel)
}

/** Of the last report of a page: when it was written, and its number. */
const Place = z.tuple([z.int().min(0).max(LATEST_MS), z.int().min(0)])

function listAndFind(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.listReports, async ({ params, query, caller }) => {
    const limit = pageSize(query.limit)
    const filter = {
      types: query.type && [query.type],
      before: query.cursor === undefined ? undefined : readCursor(query.cursor),
    }
    const { rows, view } = await listReports(kernel, caller, params.id, filter, limit + 1)
    return pageOf(rows, limit, { view, idOf: ({ id }) => id })
  })

  serve(app, api.listAllReports, async ({ query, caller }) => {
    const limit = pageSize(query.limit)
    const filter = {
      ...periodIn(query),
      types: query.type && [query.type],
      before: query.cursor === undefined ? undefined : valuesIn(query.cursor, Place),
    }
    const { rows, view } = await listAllReports(kernel, caller, filter, limit + 1)
    const shown = rows.slice(0, limit)
    const last = shown.at(-1)
    const nextCursor = rows.length > limit ? cursorWith([last!.at, last!.id]) : null
    return { items: shown.map(view), nextCursor }
  })

  serve(app, api.readReport, async (request, reply) => {
    const { params, query, caller } = request
    return sendReport(request, reply, await showReport(kernel, caller, params.id), query.format)
  })
}

/** As a file it is named by ids alone: a title could contain anything. */
function sendReport(
  { headers }: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  report: AnswerOf<typeof ReportView>,
  asked: 'json' | 'markdown' | undefined,
): FastifyReply {
  reply.header('vary', 'accept')
  const wanted = asked ?? (/(^|,)\s*text\/markdown\b/i.test(headers.accept ?? '') ? 'markdown' : 'json')
  if (wanted === 'json') return reply.send(report)
  const { missionId, taskId, version } = report
  const subject = taskId === null ? `mission-${missionId}` : `task-${taskId}`
  return reply
    .header('content-disposition', `attachment; filename="report-${subject}-v${version}.md"`)
    .type('text/markdown; charset=utf-8')
    .serializer((text: unknown) => text as string)
    .send(report.markdown)
}
