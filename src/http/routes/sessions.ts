import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import { SessionBody } from '../../core/shapes/administration.ts'
import { beat } from '../../flow/claims.ts'
import type { Kernel } from '../../flow/kernel.ts'
import { instant } from '../../flow/views.ts'
import { endSession, findSession, heldBy, rememberSession, type Session } from '../../store/postgres/names.ts'
import { IdParams, route } from '../schema.ts'

const sessionView = ({ id, session, agent, userId, startedAt, lastSeenAt, endedAt }: Session) => ({
  id,
  session,
  agent,
  userId,
  startedAt: instant(startedAt),
  lastSeenAt: instant(lastSeenAt),
  endedAt: instant(endedAt),
})

export function sessionRoutes(app: FastifyInstance, kernel: Kernel): void {
  const { writers } = kernel.store
  const tag = 'sessions'

  async function find(workspaceId: number, nameOrId: string): Promise<Session> {
    const session = await findSession(writers, workspaceId, nameOrId)
    if (!session) throw new Refused('NOT_FOUND', `There is no session "${nameOrId}" in this workspace.`)
    return session
  }

  app.post<{ Body: z.output<typeof SessionBody> | undefined }>(
    '/sessions',
    route({
      summary: 'Begin a session, or find it again',
      tag,
      needs: 'work',
      body: SessionBody,
      bodyIsOptional: true,
      status: 201,
    }),
    async ({ body, caller }, reply) => {
      const given = { ...body, session: body?.session ?? `s-${randomUUID()}` }
      const { session, isNew } = await rememberSession(writers, caller.workspaceId, given, caller.actor)
      return reply.code(isNew ? 201 : 200).send(sessionView(session))
    },
  )

  app.get<{ Params: { id: string } }>(
    '/sessions/:id',
    route({ summary: 'A session and what it holds', tag, needs: 'read', params: IdParams }),
    async ({ params, caller }) => {
      const session = await find(caller.workspaceId, params.id)
      const held = await heldBy(writers, caller.workspaceId, session.session)
      return {
        ...sessionView(session),
        activeClaims: held.map(({ uuid, key, generation, agent, leaseExpiresAt }) => ({
          taskId: uuid,
          key,
          generation,
          agent,
          leaseExpiresAt: instant(leaseExpiresAt),
        })),
      }
    },
  )

  app.post<{ Params: { id: string } }>(
    '/sessions/:id/heartbeat',
    route({
      summary: 'Renew all that the session holds',
      tag,
      needs: 'work',
      params: IdParams,
      body: z.strictObject({}),
      bodyIsOptional: true,
    }),
    ({ params, caller }) => beat(kernel, caller, params.id),
  )

  app.delete<{ Params: { id: string } }>(
    '/sessions/:id',
    route({
      summary: 'End a session; its claims go back to the queue',
      tag,
      needs: 'work',
      params: IdParams,
      status: 204,
    }),
    async ({ params, caller }, reply) => {
      const session = await find(caller.workspaceId, params.id)
      const held = await heldBy(writers, caller.workspaceId, session.session)
      await Promise.all(
        held.map(({ taskId, uuid, generation }) =>
          kernel.run(caller, {
            on: 'task',
            taskId,
            uuid,
            command: {
              kind: 'release',
              fence: { session: session.session, generation },
              reason: 'SESSION_ENDED',
            },
          }),
        ),
      )
      await endSession(writers, caller.workspaceId, session.session, caller.actor)
      kernel.sessionEnded(caller, session.session)
      return reply.code(204).send()
    },
  )
}
