import type { FastifyInstance } from 'fastify'
import type { AnswerOf } from '../../core/shapes/common.ts'
import { CoordinatorHealth, HealthAnswer } from '../../core/shapes/coordinator.ts'
import { type Coordination, coordinatorHealth } from '../../flow/coordination.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { sendProblem } from '../problems.ts'
import { route } from '../schema.ts'

const OK: AnswerOf<typeof HealthAnswer> = { status: 'ok' }

export function healthRoutes(app: FastifyInstance, kernel: ServerKernel, coordinator: Coordination): void {
  app.get(
    '/health/live',
    route({
      summary: 'Check that the process is running',
      tag: 'health',
      needs: 'nothing',
      answer: HealthAnswer,
    }),
    async () => OK,
  )

  app.get(
    '/health/ready',
    route({
      summary: 'Check that the database responds',
      tag: 'health',
      needs: 'nothing',
      answer: HealthAnswer,
    }),
    async (request, reply) => {
      try {
        await kernel.store.ping()
        return OK
      } catch (error) {
        request.log.warn({ err: error }, 'not ready: the database does not respond')
        return sendProblem(reply, 'UNAVAILABLE', 'The database does not respond.')
      }
    },
  )

  app.get(
    '/health/coordinator',
    route({
      summary: 'Check that a node coordinates',
      tag: 'health',
      needs: 'nothing',
      status: [200, 503],
      answer: CoordinatorHealth,
    }),
    async (request, reply) => {
      try {
        const health = await coordinatorHealth(kernel, coordinator)
        return await reply.code(health.status === 'healthy' ? 200 : 503).send(health)
      } catch (error) {
        request.log.warn({ err: error }, 'coordinator health could not be read')
        return sendProblem(reply, 'UNAVAILABLE', 'The database does not respond.')
      }
    },
  )
}
