import type { FastifyInstance } from 'fastify'
import { readOverview } from '../../core/api/overview.ts'
import { showOverview } from '../../flow/overview/overview.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'

export function overviewRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, readOverview, ({ query, caller }) => showOverview(kernel, caller, query.window))
}
