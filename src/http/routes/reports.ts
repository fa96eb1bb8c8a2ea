import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { REPORT_TYPES } from '../../core/reports/report.ts'
import { type AnswerOf, Uuid } from '../../core/shapes/common.ts'
import { MissionParams } from '../../core/shapes/missions.ts'
import { ReportBody, ReportList, ReportView } from '../../core/shapes/reports.ts'
import {
  listReports,
  newestOnMission,
  newestOnTask,
  reportOnMission,
  reportOnTask,
  showReport,
} from '../../flow/reports/reports.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { pageOf, readCursor } from '../cursor.ts'
import { IdParams, Page, pageSize, route } from '../schema.ts'

/** Reports on missions and their tasks. */

const tag = 'reports'
const mediaTypes = ['application/json', 'text/markdown']
/** JSON may need six characters for one. */
const LARGEST_BODY = 8 * 1024 * 1024

const format = z
  .enum(['json', 'markdown'])
  .optional()
  .describe('"markdown": only the text, as a file. Default: what the client accepts')
const FormatQuery = z.strictObject({ format })
const VersionQuery = z.strictObject({
  format,
  version: z
    .string()
    .regex(/^[1-9][0-9]{0,8}$/)
    .optional()
    .describe('Default: the newest'),
})
const ListQuery = z.strictObject({ ...Page, type: z.enum(REPORT_TYPES).optional() })

type Params = { Params: { id: string } }
type Versioned = Params & { Querystring: z.output<typeof VersionQuery> }

/** Those who work may report, too: an agent, on its own task and its mission. */
export function reportRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  for (const { what, at, params: named, add, read } of [
    { what: 'task', at: '/tasks/:id/report', params: IdParams, add: reportOnTask, read: newestOnTask },
    {
      what: 'mission',
      at: '/missions/:id/report',
      params: MissionParams,
      add: reportOnMission,
      read: newestOnMission,
    },
  ]) {
    app.get<Versioned>(
      at,
      route({
        summary: `Read the newest report on a ${what}, or another version`,
        ...{ tag, needs: 'read', params: named, query: VersionQuery, answer: ReportView, mediaTypes },
      }),
      async (request, reply) => {
        const { params, query, caller } = request
        const version = query.version === undefined ? undefined : Number(query.version)
        return sendReport(request, reply, await read(kernel, caller, params.id, version), query.format)
      },
    )
    app.post<Params & { Body: z.output<typeof ReportBody> }>(
      at,
      route({
        summary: `Hand in a report on a ${what}: it is the next version`,
        ...{ tag, needs: 'work', params: named, body: ReportBody, bodyLimit: LARGEST_BODY },
        ...{ status: 201, answer: ReportView },
      }),
      async ({ params, body, caller }, reply) =>
        reply.code(201).send(await add(kernel, caller, params.id, body)),
    )
  }
  listAndFind(app, kernel)
}

function listAndFind(app: FastifyInstance, kernel: ServerKernel): void {
  app.get<Params & { Querystring: z.output<typeof ListQuery> }>(
    '/missions/:id/reports',
    route({
      summary: 'List the reports on a mission and on its tasks, newest first, without their texts',
      ...{ tag, needs: 'read', params: MissionParams, query: ListQuery, answer: ReportList },
    }),
    async ({ params, query, caller }) => {
      const limit = pageSize(query.limit)
      const filter = {
        types: query.type && [query.type],
        before: query.cursor === undefined ? undefined : readCursor(query.cursor),
      }
      const { rows, view } = await listReports(kernel, caller, params.id, filter, limit + 1)
      return pageOf(rows, limit, { view, idOf: ({ id }) => id })
    },
  )

  app.get<Params & { Querystring: z.output<typeof FormatQuery> }>(
    '/reports/:id',
    route({
      summary: 'Read a report',
      ...{ tag, needs: 'read', params: z.strictObject({ id: Uuid }), query: FormatQuery, answer: ReportView },
      mediaTypes,
    }),
    async (request, reply) => {
      const { params, query, caller } = request
      return sendReport(request, reply, await showReport(kernel, caller, params.id), query.format)
    },
  )
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
