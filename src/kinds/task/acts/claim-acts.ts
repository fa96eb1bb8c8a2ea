import { actsOf } from '../../../door/door.ts'
import { namedProject } from '../../project/acts.ts'
import * as api from '../api/claims.ts'
import type { Fence } from '../command.ts'
import { continueAfter } from './children.ts'
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
} from './claims.ts'
import { failTask, submissionOf, submitAndNext, submitBatch, submitResult } from './results.ts'
import { reportedWith } from './used.ts'

const fenceOf = ({ session, generation }: Fence): Fence => ({ session, generation })

export const claimActs = actsOf(api)({
  claimTask: ({ kernel }, { params, body, caller }) => claimTask(kernel, caller, params.id, body),
  claimNext: async ({ kernel }, call) => {
    const { caller } = call
    const { project, ...body } = call.body
    const projectId = await namedProject(kernel, caller, project)
    return call.waiting(body.waitMs, (waiter) => claimNext(kernel, caller, body, waiter, projectId))
  },
  claimMany: ({ kernel }, { body, caller }) => claimBatch(kernel, caller, body),
  renewMany: ({ kernel }, { body, caller }) => renewBatch(kernel, caller, body),
  renewClaim: ({ kernel }, { params, body, caller }) => renewTask(kernel, caller, params.id, body),
  submitResult: async ({ kernel, execution }, call) => {
    const { params, caller } = call
    const { next: wanted, usage, ...body } = call.body
    const projectId = await namedProject(kernel, caller, wanted?.project)
    // Nothing is booked with a result that is too large.
    if (usage !== undefined) await submissionOf(kernel, caller, body)
    await reportedWith(kernel, caller, params.id, { ...fenceOf(body), usage })
    if (!wanted) {
      // The work of a run is saved before its result counts.
      const { run, workspaceId } = caller
      const commit = run ? await execution.commitForResult({ workspaceId, runId: run.runId }) : null
      return submitResult(kernel, caller, params.id, body, { commit })
    }
    const { project: _project, ...next } = wanted
    return call.waiting(0, async ({ gone }) => {
      const done = await submitAndNext(kernel, caller, params.id, body, { ...next, projectId }, gone)
      return { ...done.submitted, next: done.next }
    })
  },
  submitMany: ({ kernel }, { body, caller }) => submitBatch(kernel, caller, body),
  failTask: ({ kernel }, { params, body, caller }) => failTask(kernel, caller, params.id, body),
  startTask: ({ kernel }, { params, body: fence, caller }) => startTask(kernel, caller, params.id, fence),
  continueTask: ({ kernel }, { params, body: { after, ...fence }, caller }) =>
    after
      ? continueAfter(kernel, caller, params.id, fence, after)
      : continueTask(kernel, caller, params.id, fence),
  releaseTask: ({ kernel }, { params, body: { reason, ...fence }, caller }) =>
    releaseTask(kernel, caller, params.id, fence, reason),
  reportProgress: async ({ kernel }, { params, body: { usage, ...body }, caller }) => {
    await reportedWith(kernel, caller, params.id, { ...fenceOf(body), usage })
    return reportProgress(kernel, caller, params.id, body, null)
  },
  reportProgressIfUnchanged: async ({ kernel }, { params, body: { usage, ...body }, caller, ifVersion }) => {
    await reportedWith(kernel, caller, params.id, { ...fenceOf(body), usage }, ifVersion)
    return reportProgress(kernel, caller, params.id, body, ifVersion)
  },
})
