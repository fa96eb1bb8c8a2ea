import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import { listOf } from '../../core/shapes/common.ts'
import { CoordinatorStatus, NodeView, RecoverAnswer, RecoverBody } from '../../core/shapes/coordinator.ts'
import { type Coordination, coordinatorStatus, forceRecovery, nodesPage } from '../../flow/coordination.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { route } from '../schema.ts'

export function coordinatorRoutes(
  app: FastifyInstance,
  kernel: ServerKernel,
  coordinator: Coordination,
): void {
  const tag = 'coordinator'
  app.get(
    '/coordinator/status',
    route({
      summary: 'Read the status of the coordinator and of this workspace',
      tag,
      needs: 'admin',
      answer: CoordinatorStatus,
    }),
    ({ caller }) => coordinatorStatus(kernel, coordinator, caller),
  )
  app.get(
    '/nodes',
    route({ summary: 'List the nodes on this database', tag, needs: 'admin', answer: listOf(NodeView) }),
    () => nodesPage(kernel),
  )
  app.post<{ Body: z.output<typeof RecoverBody> }>(
    '/coordinator/recover',
    route({
      summary: 'Run all upkeep steps for this workspace now',
      tag,
      needs: 'admin',
      body: RecoverBody,
      bodyIsOptional: true,
      answer: RecoverAnswer,
    }),
    async ({ body, caller }) => {
      const { uuid } = await kernel.store.workspaces.read(caller.workspaceId)
      if (body.workspaceId !== undefined && body.workspaceId !== uuid)
        throw new Refused('NOT_FOUND', `There is no workspace ${body.workspaceId} for this key.`)
      return forceRecovery(kernel, coordinator, caller)
    },
  )
}
