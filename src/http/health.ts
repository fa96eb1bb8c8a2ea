import type { FastifyInstance } from 'fastify'
import * as api from '../core/api/health.ts'
import type { AnswerOf } from '../core/shapes/common.ts'
import type { HealthAnswer } from '../core/shapes/coordinator.ts'
import type { Coordination } from '../flow/coordination.ts'
import { coordinatorHealth } from '../flow/coordinator.ts'
import type { ServerKernel } from '../kernel/server-kernel.ts'
import { StoreUnavailable } from '../store/store.ts'
import { serve } from './endpoint.ts'
import { DISK_IS_FULL, sendProblem } from './problems.ts'

const OK: AnswerOf<typeof HealthAnswer> = { status: 'ok' }

export function healthRoutes(app: FastifyInstance, kernel: ServerKernel, coordinator: Coordination): void {
  serve(app, api.checkLive, async () => OK)

  serve(app, api.checkReady, async (request, reply) => {
    try {
      await kernel.store.ping()
      return OK
    } catch (error) {
      if (error instanceof StoreUnavailable && error.isDiskFull) {
        request.log.warn({ err: error }, 'not ready: the disk of the database is full')
        return sendProblem(reply, 'UNAVAILABLE', DISK_IS_FULL, { because: 'disk_full' })
      }
      request.log.warn({ err: error }, 'not ready: the database does not respond')
      return sendProblem(reply, 'UNAVAILABLE', 'The database does not respond.')
    }
  })

  serve(app, api.checkCoordinator, async (request, reply) => {
    try {
      const health = await coordinatorHealth(kernel, coordinator)
      return await reply.code(health.status === 'healthy' ? 200 : 503).send(health)
    } catch (error) {
      request.log.warn({ err: error }, 'coordinator health could not be read')
      return sendProblem(reply, 'UNAVAILABLE', 'The database does not respond.')
    }
  })
}
