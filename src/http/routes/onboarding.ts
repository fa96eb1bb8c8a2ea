import type { FastifyInstance } from 'fastify'
import { readOnboarding, tryAdapter } from '../../core/api/onboarding.ts'
import type { Execution } from '../../flow/execution.ts'
import { type NodeStart, showOnboarding } from '../../flow/onboarding/onboarding.ts'
import { tryAdapter as tried } from '../../flow/onboarding/try-adapter.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'

export function onboardingRoutes(
  app: FastifyInstance,
  kernel: ServerKernel,
  execution: Execution,
  started: NodeStart,
): void {
  serve(app, readOnboarding, ({ caller }) => showOnboarding(kernel, execution, started, caller))

  serve(app, tryAdapter, ({ params, body, caller }) => tried(kernel, execution, caller, params.type, body))
}
