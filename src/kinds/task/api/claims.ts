import { endpoint } from '../../../pure/endpoint.ts'
import { IdParams } from '../../../pure/shapes.ts'
import * as shapes from '../shapes/claims.ts'

/** What holders do: claim, renew, report, submit. */

/** The largest result that any workspace can allow; the limit of the workspace itself is checked later. */
const LARGEST_RESULT_BODY = 101 * 1024 * 1024

const common = { tag: 'claims', needs: 'work' } as const
const onTask = { ...common, params: IdParams }

export const claimTask = endpoint({
  method: 'POST',
  path: '/tasks/:id/claim',
  ...onTask,
  summary: 'Claim a task',
  body: shapes.ClaimBody,
  answer: shapes.ClaimAnswer,
})

export const claimNext = endpoint({
  method: 'POST',
  path: '/claims/next',
  ...common,
  summary: 'Claim the next tasks in the queue',
  body: shapes.NextBody,
  answer: shapes.NextAnswer,
})

export const claimMany = endpoint({
  method: 'POST',
  path: '/claims/batch',
  ...common,
  summary: 'Claim several tasks',
  body: shapes.ClaimBatchBody,
  answer: shapes.ClaimBatchAnswer,
})

export const renewMany = endpoint({
  method: 'POST',
  path: '/claims/renew',
  ...common,
  summary: 'Renew several leases',
  body: shapes.RenewBatchBody,
  answer: shapes.RenewBatchAnswer,
})

export const renewClaim = endpoint({
  method: 'POST',
  path: '/tasks/:id/renew',
  ...onTask,
  summary: 'Renew a lease',
  body: shapes.RenewBody,
  answer: shapes.RenewAnswer,
})

export const submitResult = endpoint({
  method: 'POST',
  path: '/tasks/:id/submit',
  ...onTask,
  summary: 'Submit a result',
  body: shapes.SubmitBody,
  answer: shapes.SubmitAndNextAnswer,
  bodyLimit: LARGEST_RESULT_BODY,
})

export const submitMany = endpoint({
  method: 'POST',
  path: '/results/batch',
  ...common,
  summary: 'Submit several results',
  body: shapes.ResultBatchBody,
  answer: shapes.ResultBatchAnswer,
  bodyLimit: LARGEST_RESULT_BODY,
})

export const failTask = endpoint({
  method: 'POST',
  path: '/tasks/:id/fail',
  ...onTask,
  summary: 'Report a failed attempt',
  body: shapes.FailBody,
  answer: shapes.FailAnswer,
})

export const startTask = endpoint({
  method: 'POST',
  path: '/tasks/:id/start',
  ...onTask,
  summary: 'Start a claimed task',
  body: shapes.FenceBody,
  answer: shapes.StartAnswer,
})

export const continueTask = endpoint({
  method: 'POST',
  path: '/tasks/:id/continue',
  ...onTask,
  summary: 'Continue a task in another turn',
  body: shapes.ContinueBody,
  answer: shapes.ContinueAnswer,
})

export const releaseTask = endpoint({
  method: 'POST',
  path: '/tasks/:id/release',
  ...onTask,
  summary: 'Release a claim',
  body: shapes.ReleaseBody,
  answer: shapes.ReleaseAnswer,
})

export const reportProgress = endpoint({
  method: 'POST',
  path: '/tasks/:id/progress',
  ...onTask,
  summary: 'Report progress or a checkpoint',
  body: shapes.ProgressBody,
  answer: shapes.NotedAnswer,
})

export const reportProgressIfUnchanged = endpoint({
  method: 'PATCH',
  path: '/tasks/:id/progress',
  ...onTask,
  summary: 'Report progress or a checkpoint, if the version matches',
  body: shapes.ProgressBody,
  answer: shapes.NotedAnswer,
  etag: 'task.version',
})
