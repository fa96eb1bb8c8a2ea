import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/sessions.ts'
import { closeSession, heartbeatOfSession, openSession, showSession } from '../../flow/sessions.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'

export function sessionRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.openSession, async ({ body, caller }, reply) => {
    const { session, isNew } = await openSession(kernel, caller, body)
    return reply.code(isNew ? 201 : 200).send(session)
  })

  serve(app, api.readSession, ({ params, caller }) => showSession(kernel, caller, params.id))

  serve(app, api.sendSessionHeartbeat, ({ params, caller }) => heartbeatOfSession(kernel, caller, params.id))

  serve(app, api.endSession, async ({ params, caller }, reply) => {
    await closeSession(kernel, caller, params.id)
    return reply.code(204).send()
  })
}
