import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import * as shapes from '../../core/shapes/claims.ts'
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
import { continueAfter } from '../../flow/missions/children.ts'
import { namedProject } from '../../flow/projects.ts'
import { failTask, submitAndNext, submitBatch, submitResult } from '../../flow/results.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { KeyRing } from '../key-ring.ts'
import { whileAdmitted } from '../live/waiting.ts'
import { IdParams, route } from '../schema.ts'
import { etag, versionIn } from '../versions.ts'

type OnTask<B extends z.ZodType> = { Params: { id: string }; Body: z.output<B> }

/** The largest result that any workspace can allow; the limit of the workspace itself is checked later. */
const LARGEST_RESULT_BODY = 101 * 1024 * 1024

export function claimRoutes(app: FastifyInstance, kernel: ServerKernel, keys: KeyRing): void {
  const common = { tag: 'claims', needs: 'work' } as const
  const onTask = (summary: string, body: z.ZodType, answer: z.ZodType, more: { bodyLimit?: number } = {}) =>
    route({ summary, ...common, params: IdParams, body, answer, ...more })
  const onMany = (summary: string, body: z.ZodType, answer: z.ZodType, more: { bodyLimit?: number } = {}) =>
    route({ summary, ...common, body, answer, ...more })

  app.post<OnTask<typeof shapes.ClaimBody>>(
    '/tasks/:id/claim',
    onTask('Claim a task', shapes.ClaimBody, shapes.ClaimAnswer),
    ({ params, body, caller }) => claimTask(kernel, caller, params.id, body),
  )
  app.post<{ Body: z.output<typeof shapes.NextBody> }>(
    '/claims/next',
    onMany('Claim the next tasks in the queue', shapes.NextBody, shapes.NextAnswer),
    async (request, reply) => {
      const { caller } = request
      const { project, ...body } = request.body
      const projectId = await namedProject(kernel, caller, project)
      return whileAdmitted(keys, request, reply, body.waitMs, (waiter) =>
        claimNext(kernel, caller, body, waiter, projectId),
      )
    },
  )
  app.post<{ Body: z.output<typeof shapes.ClaimBatchBody> }>(
    '/claims/batch',
    onMany('Claim several tasks', shapes.ClaimBatchBody, shapes.ClaimBatchAnswer),
    ({ body, caller }) => claimBatch(kernel, caller, body),
  )
  app.post<{ Body: z.output<typeof shapes.RenewBatchBody> }>(
    '/claims/renew',
    onMany('Renew several leases', shapes.RenewBatchBody, shapes.RenewBatchAnswer),
    ({ body, caller }) => renewBatch(kernel, caller, body),
  )
  app.post<OnTask<typeof shapes.RenewBody>>(
    '/tasks/:id/renew',
    onTask('Renew a lease', shapes.RenewBody, shapes.RenewAnswer),
    ({ params, body, caller }) => renewTask(kernel, caller, params.id, body),
  )
  app.post<OnTask<typeof shapes.SubmitBody>>(
    '/tasks/:id/submit',
    onTask('Submit a result', shapes.SubmitBody, shapes.SubmitAndNextAnswer, {
      bodyLimit: LARGEST_RESULT_BODY,
    }),
    async (request, reply) => {
      const { params, caller } = request
      const { next: wanted, ...body } = request.body
      if (!wanted) return submitResult(kernel, caller, params.id, body)
      const { project, ...next } = wanted
      const projectId = await namedProject(kernel, caller, project)
      return whileAdmitted(keys, request, reply, 0, async ({ gone }) => {
        const done = await submitAndNext(kernel, caller, params.id, body, { ...next, projectId }, gone)
        return { ...done.submitted, next: done.next }
      })
    },
  )
  app.post<{ Body: z.output<typeof shapes.ResultBatchBody> }>(
    '/results/batch',
    onMany('Submit several results', shapes.ResultBatchBody, shapes.ResultBatchAnswer, {
      bodyLimit: LARGEST_RESULT_BODY,
    }),
    ({ body, caller }) => submitBatch(kernel, caller, body),
  )
  app.post<OnTask<typeof shapes.FailBody>>(
    '/tasks/:id/fail',
    onTask('Report a failed attempt', shapes.FailBody, shapes.FailAnswer),
    ({ params, body, caller }) => failTask(kernel, caller, params.id, body),
  )
  holderRoutes(app, kernel, onTask)
}

function holderRoutes(
  app: FastifyInstance,
  kernel: ServerKernel,
  onTask: (summary: string, body: z.ZodType, answer: z.ZodType) => ReturnType<typeof route>,
): void {
  app.post<OnTask<typeof shapes.FenceBody>>(
    '/tasks/:id/start',
    onTask('Start a claimed task', shapes.FenceBody, shapes.StartAnswer),
    async ({ params, body: fence, caller }) => startTask(kernel, caller, params.id, fence),
  )
  app.post<OnTask<typeof shapes.ContinueBody>>(
    '/tasks/:id/continue',
    onTask('Continue a task in another turn', shapes.ContinueBody, shapes.ContinueAnswer),
    async ({ params, body: { after, ...fence }, caller }) =>
      after
        ? continueAfter(kernel, caller, params.id, fence, after)
        : continueTask(kernel, caller, params.id, fence),
  )
  app.post<OnTask<typeof shapes.ReleaseBody>>(
    '/tasks/:id/release',
    onTask('Release a claim', shapes.ReleaseBody, shapes.ReleaseAnswer),
    async ({ params, body: { reason, ...fence }, caller }) =>
      releaseTask(kernel, caller, params.id, fence, reason),
  )
  app.post<OnTask<typeof shapes.ProgressBody>>(
    '/tasks/:id/progress',
    onTask('Report progress or a checkpoint', shapes.ProgressBody, shapes.NotedAnswer),
    async ({ params, body, caller }) => reportProgress(kernel, caller, params.id, body, null),
  )
  app.patch<OnTask<typeof shapes.ProgressBody>>(
    '/tasks/:id/progress',
    onTask(
      'Report progress or a checkpoint, if the version matches',
      shapes.ProgressBody,
      shapes.NotedAnswer,
    ),
    async ({ params, body, caller, headers }, reply) => {
      const ifVersion = versionIn(headers['if-match'])
      const noted = await reportProgress(kernel, caller, params.id, body, ifVersion)
      return reply.header('etag', etag(noted.task.version)).send(noted)
    },
  )
}
