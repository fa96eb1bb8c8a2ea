import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/plans.ts'
import type { Refused } from '../../core/errors.ts'
import { refusedPlan } from '../../core/plans/refusal.ts'
import { writePlan } from '../../core/plans/write.ts'
import { proposePlan } from '../../flow/missions/missions.ts'
import { checkedPlan } from '../../flow/plan-check.ts'
import { exportPlan } from '../../flow/plan-export.ts'
import { givenMissionPlan } from '../../flow/plan-reading/read-apart.ts'
import { importPlan } from '../../flow/plans.ts'
import { requireProject } from '../../flow/projects.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { type BodyLimits, installParser } from '../bodies.ts'
import { serve } from '../endpoint.ts'

const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml']

/** In its own scope: a plan is parsed from text, so that every problem is reported with its line. */
export function planRoutes(app: FastifyInstance, kernel: ServerKernel, bodies: BodyLimits): void {
  app.removeAllContentTypeParsers()
  // Its values are not counted here: a long plan is read by another thread, which has memory of its own.
  const uncounted = async () => 0
  installParser(app, ['application/json', ...YAML_TYPES], bodies, uncounted, (_request, bytes, done) => {
    if (isUtf8(bytes)) done(null, { text: bytes.toString() })
    else done(notUtf8(bytes))
  })

  serve(app, api.importProjectPlan, async ({ params, body, caller }) => {
    const project = await requireProject(kernel, caller, params.slug)
    return importPlan(kernel, caller, project, body?.text ?? '')
  })

  serve(app, api.replaceMissionPlan, async ({ params, query, body, caller }) => {
    const seen = query.planVersion === undefined ? undefined : Number(query.planVersion)
    return proposePlan(kernel, caller, params.id, await givenMissionPlan(body?.text ?? ''), seen)
  })

  serve(app, api.checkPlan, async ({ body, caller }) => checkedPlan(kernel, caller, body?.text ?? ''))
  exportRoute(app, kernel)
}

function exportRoute(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.exportProjectPlan, async ({ params, query, caller, headers }, reply) => {
    const plan = await exportPlan(kernel, caller, await requireProject(kernel, caller, params.slug))
    const format = query.format ?? (/yaml/.test(headers.accept ?? '') ? 'yaml' : 'json')
    const type = format === 'yaml' ? 'application/yaml' : 'application/json'
    return reply
      .type(`${type}; charset=utf-8`)
      .serializer((text: unknown) => text as string)
      .send(writePlan(plan, format))
  })
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
