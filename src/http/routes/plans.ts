import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Refused } from '../../core/errors.ts'
import { refusedPlan } from '../../core/plans/refusal.ts'
import { writePlan } from '../../core/plans/write.ts'
import { MissionParams, MissionView } from '../../core/shapes/missions.ts'
import { PlanCheckAnswer } from '../../core/shapes/plans.ts'
import { PlanAnswer, PlanView, ProjectParams } from '../../core/shapes/projects.ts'
import { proposePlan } from '../../flow/missions/missions.ts'
import { missionPlan } from '../../flow/missions/plan-tasks.ts'
import { checkedPlan } from '../../flow/plan-check.ts'
import { exportPlan } from '../../flow/plan-export.ts'
import { importPlan } from '../../flow/plans.ts'
import { requireProject } from '../../flow/projects.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { route } from '../schema.ts'

/** Ten thousand tasks take about two megabytes; a longer text is not a plan. */
const LARGEST_PLAN_BYTES = 4 * 1024 * 1024
const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml']

const FormatQuery = z.strictObject({ format: z.enum(['yaml', 'json']).optional() })

/** In its own scope: a plan is parsed from text, so that every problem is reported with its line. */
export function planRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  const tag = 'projects'
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    ['application/json', ...YAML_TYPES],
    { parseAs: 'buffer' },
    (_request, bytes, done) => {
      if (!isUtf8(bytes as Buffer)) return done(notUtf8(bytes as Buffer), undefined)
      done(null, { text: bytes.toString() })
    },
  )

  app.put<{ Params: { slug: string }; Body: { text: string } | undefined }>(
    '/projects/:slug/plan',
    route({
      summary: 'Import a plan as YAML or JSON, all or nothing',
      tag,
      needs: 'operate',
      params: ProjectParams,
      bodyLimit: LARGEST_PLAN_BYTES,
      answer: PlanAnswer,
    }),
    async ({ params, body, caller }) => {
      const project = await requireProject(kernel, caller, params.slug)
      return importPlan(kernel, caller, project, body?.text ?? '')
    },
  )

  app.put<{ Params: { id: string }; Body: { text: string } | undefined }>(
    '/missions/:id/plan',
    route({
      summary: 'Replace the plan of a mission, as YAML or JSON, before it is approved',
      tag: 'missions',
      needs: 'operate',
      params: MissionParams,
      bodyLimit: LARGEST_PLAN_BYTES,
      answer: MissionView,
    }),
    async ({ params, body, caller }) => proposePlan(kernel, caller, params.id, missionPlan(body?.text ?? '')),
  )

  app.post<{ Body: { text: string } | undefined }>(
    '/plans/check',
    route({
      summary: "Check a plan, a project's or a mission's, as YAML or JSON, without making anything of it",
      tag,
      needs: 'read',
      bodyLimit: LARGEST_PLAN_BYTES,
      answer: PlanCheckAnswer,
    }),
    async ({ body, caller }) => checkedPlan(kernel, caller, body?.text ?? ''),
  )
  exportRoute(app, kernel)
}

function exportRoute(app: FastifyInstance, kernel: ServerKernel): void {
  app.get<{ Params: { slug: string }; Querystring: z.output<typeof FormatQuery> }>(
    '/projects/:slug/plan',
    route({
      summary: 'Export the plan as JSON or YAML',
      tag: 'projects',
      needs: 'read',
      params: ProjectParams,
      query: FormatQuery,
      answer: PlanView,
      mediaTypes: ['application/json', 'application/yaml'],
    }),
    async ({ params, query, caller, headers }, reply) => {
      const plan = await exportPlan(kernel, caller, await requireProject(kernel, caller, params.slug))
      const format = query.format ?? (/yaml/.test(headers.accept ?? '') ? 'yaml' : 'json')
      const type = format === 'yaml' ? 'application/yaml' : 'application/json'
      return reply
        .type(`${type}; charset=utf-8`)
        .serializer((text: unknown) => text as string)
        .send(writePlan(plan, format))
    },
  )
}

/** Reported with its line, like every problem of a plan. */
function notUtf8(bytes: Buffer): Refused {
  let line = 1
  for (let start = 0; ; line++) {
    const end = bytes.indexOf('\n', start)
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) break
    start = end + 1
  }
  return refusedPlan([{ line, column: 0, path: '', at: '', message: 'this is not UTF-8' }])
}
