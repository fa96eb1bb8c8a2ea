import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/claims.ts'
import {
  claimBatch,
  claimNext,
  claimTask,
  continueTask,
  releaseTask,
  renewBatch,
  renewTask,
  reportProgress,
  startTask,
} from '../../flow/claims.ts'
import type { Execution } from '../../flow/execution.ts'
import { continueAfter } from '../../flow/missions/children.ts'
import { namedProject } from '../../flow/projects.ts'
import { failTask, submitAndNext, submitBatch, submitResult } from '../../flow/results.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'
import type { KeyRing } from '../key-ring.ts'
import { whileAdmitted } from '../live/waiting.ts'
import { etag, versionIn } from '../versions.ts'

export function claimRoutes(
  app: FastifyInstance,
  kernel: ServerKernel,
  keys: KeyRing,
  execution: Execution,
): void {
  serve(app, api.claimTask, ({ params, body, caller }) => claimTask(kernel, caller, params.id, body))
  serve(app, api.claimNext, async (request, reply) => {
    const { caller } = request
    const { project, ...body } = request.body
    const projectId = await namedProject(kernel, caller, project)
    return whileAdmitted(keys, request, reply, body.waitMs, (waiter) =>
      claimNext(kernel, caller, body, waiter, projectId),
    )
  })
  serve(app, api.claimMany, ({ body, caller }) => claimBatch(kernel, caller, body))
  serve(app, api.renewMany, ({ body, caller }) => renewBatch(kernel, caller, body))
  serve(app, api.renewClaim, ({ params, body, caller }) => renewTask(kernel, caller, params.id, body))
  serve(app, api.submitResult, async (request, reply) => {
    const { params, caller } = request
    const { next: wanted, ...body } = request.body
    if (!wanted) {
      // The work of a run is saved before its result counts.
      const { run, workspaceId } = caller
      const commit = run ? await execution.commitForResult({ workspaceId, runId: run.runId }) : null
      return submitResult(kernel, caller, params.id, body, { commit })
    }
    const { project, ...next } = wanted
    const projectId = await namedProject(kernel, caller, project)
    return whileAdmitted(keys, request, reply, 0, async ({ gone }) => {
      const done = await submitAndNext(kernel, caller, params.id, body, { ...next, projectId }, gone)
      return { ...done.submitted, next: done.next }
    })
  })
  serve(app, api.submitMany, ({ body, caller }) => submitBatch(kernel, caller, body))
  serve(app, api.failTask, ({ params, body, caller }) => failTask(kernel, caller, params.id, body))
  holderRoutes(app, kernel)
}

function holderRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.startTask, async ({ params, body: fence, caller }) =>
    startTask(kernel, caller, params.id, fence),
  )
  serve(app, api.continueTask, async ({ params, body: { after, ...fence }, caller }) =>
    after
      ? continueAfter(kernel, caller, params.id, fence, after)
      : continueTask(kernel, caller, params.id, fence),
  )
  serve(app, api.releaseTask, async ({ params, body: { reason, ...fence }, caller }) =>
    releaseTask(kernel, caller, params.id, fence, reason),
  )
  serve(app, api.reportProgress, async ({ params, body, caller }) =>
    reportProgress(kernel, caller, params.id, body, null),
  )
  serve(app, api.reportProgressIfUnchanged, async ({ params, body, caller, headers }, reply) => {
    const ifVersion = versionIn(headers['if-match'])
    const noted = await reportProgress(kernel, caller, params.id, body, ifVersion)
    return reply.header('etag', etag(noted.task.version)).send(noted)
  })
}
