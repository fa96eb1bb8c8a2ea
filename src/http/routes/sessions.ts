import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import {
  SessionBody,
  SessionHeartbeatAnswer,
  SessionMemoryView,
  SessionView,
} from '../../core/shapes/sessions.ts'
import { closeSession, heartbeatOfSession, openSession, showSession } from '../../flow/sessions.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { IdParams, route } from '../schema.ts'

export function sessionRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  const tag = 'sessions'
  const onSession = { tag, params: IdParams }

  app.post<{ Body: z.output<typeof SessionBody> | undefined }>(
    '/sessions',
    route({
      summary: 'Open a session, or resume an existing one',
      tag,
      needs: 'work',
      body: SessionBody,
      bodyIsOptional: true,
      status: [200, 201],
      answer: SessionView,
    }),
    async ({ body, caller }, reply) => {
      const { session, isNew } = await openSession(kernel, caller, body)
      return reply.code(isNew ? 201 : 200).send(session)
    },
  )

  app.get<{ Params: { id: string } }>(
    '/sessions/:id',
    route({
      ...onSession,
      summary: 'Read a session: its task log, claims and progress',
      needs: 'read',
      answer: SessionMemoryView,
    }),
    ({ params, caller }) => showSession(kernel, caller, params.id),
  )

  const nothing = { body: z.strictObject({}), bodyIsOptional: true }
  app.post<{ Params: { id: string } }>(
    '/sessions/:id/heartbeat',
    route({
      ...onSession,
      ...nothing,
      summary: 'Send a heartbeat, which renews all claims of the session',
      needs: 'work',
      answer: SessionHeartbeatAnswer,
    }),
    ({ params, caller }) => heartbeatOfSession(kernel, caller, params.id),
  )

  app.delete<{ Params: { id: string } }>(
    '/sessions/:id',
    route({
      ...onSession,
      summary: 'End a session and return its claims to the queue',
      needs: 'work',
      status: 204,
      answer: null,
    }),
    async ({ params, caller }, reply) => {
      await closeSession(kernel, caller, params.id)
      return reply.code(204).send()
    },
  )
}
