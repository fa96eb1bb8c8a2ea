import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/coordinator.ts'
import {
  type Coordination,
  coordinatorStatus,
  forceRecovery,
  nodesPage,
  workspaceToRecover,
} from '../../flow/coordination.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'

export function coordinatorRoutes(
  app: FastifyInstance,
  kernel: ServerKernel,
  coordinator: Coordination,
): void {
  serve(app, api.readCoordinatorStatus, ({ caller }) => coordinatorStatus(kernel, coordinator, caller))
  serve(app, api.listNodes, () => nodesPage(kernel))
  serve(app, api.recoverNow, async ({ body, caller }) =>
    forceRecovery(kernel, coordinator, caller, await workspaceToRecover(kernel, caller, body.workspaceId)),
  )
}
