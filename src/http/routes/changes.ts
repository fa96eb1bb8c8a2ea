import type { FastifyInstance } from 'fastify'
import { readChanges } from '../../core/api/changes.ts'
import type { Execution } from '../../flow/execution.ts'
import { requireRun } from '../../flow/runs.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'

export function changeRoutes(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  serve(app, readChanges, async ({ params, query, caller }) => {
    const run = await requireRun(kernel, caller, params.id)
    const { folder, mergeCommand, ...changes } = await execution.changesOf(run, query.path ?? null)
    // Paths of the machine are for people who work on it: a caller that may choose the folders of agents knows them anyway.
    const isShown = caller.rights.has('configure_agents')
    return {
      runId: run.id,
      ...changes,
      folder: isShown ? folder : null,
      mergeCommand: isShown ? mergeCommand : null,
    }
  })
}
