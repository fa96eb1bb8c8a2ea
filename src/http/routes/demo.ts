import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/demo.ts'
import { startDemo } from '../../flow/demo/demo.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'

export function demoRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.startDemo, async ({ body, caller }, reply) => {
    const mission = await startDemo(kernel, caller, body?.title)
    return reply.code(201).send({ ...mission, missionId: mission.id })
  })
}
