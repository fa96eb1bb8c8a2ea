import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Title } from '../../core/shapes/common.ts'
import { MissionView } from '../../core/shapes/missions.ts'
import { startDemo } from '../../flow/demo/demo.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { route } from '../schema.ts'

const DemoBody = z.strictObject({ title: Title.optional() })
const DemoAnswer = MissionView.extend({ missionId: z.string() })

export function demoRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  app.post<{ Body: z.output<typeof DemoBody> | undefined }>(
    '/demo',
    route({
      summary: 'Start the demonstration: a mission whose agents follow scripts; it waits for a person twice',
      tag: 'missions',
      needs: 'operate',
      body: DemoBody,
      bodyIsOptional: true,
      status: 201,
      answer: DemoAnswer,
    }),
    async ({ body, caller }, reply) => {
      const mission = await startDemo(kernel, caller, body?.title)
      return reply.code(201).send({ ...mission, missionId: mission.id })
    },
  )
}
