import type { FastifyInstance } from 'fastify'
import type { Coordination } from '../door/coordination.ts'
import type { ServerKernel } from '../door/server-kernel.ts'
import { StoreUnavailable } from '../kernel/store/store.ts'
import type { AnswerOf } from '../pure/shapes.ts'
import { coordinatorHealth } from '../views/coordinator/acts.ts'
import type { HealthAnswer } from '../views/coordinator/shapes.ts'
import * as api from '../views/health/api.ts'
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
