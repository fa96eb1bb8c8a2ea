import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/coordinator.ts'
import { Refused } from '../../core/errors.ts'
import { type Coordination, coordinatorStatus, forceRecovery, nodesPage } from '../../flow/coordination.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'

export function coordinatorRoutes(
  app: FastifyInstance,
  kernel: ServerKernel,
  coordinator: Coordination,
): void {
  serve(app, api.readCoordinatorStatus, ({ caller }) => coordinatorStatus(kernel, coordinator, caller))
  serve(app, api.listNodes, () => nodesPage(kernel))
  serve(app, api.recoverNow, async ({ body, caller }) => {
    const { uuid } = await kernel.store.workspaces.read(caller.workspaceId)
    if (body.workspaceId !== undefined && body.workspaceId !== uuid)
      throw new Refused('NOT_FOUND', `There is no workspace ${body.workspaceId} for this key.`)
    return forceRecovery(kernel, coordinator, caller)
  })
}
