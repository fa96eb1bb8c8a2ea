import type { z } from 'zod'
import { endpoint } from '../../../pure/endpoint.ts'
import { IdParams } from '../../../pure/shapes.ts'
import { AskAnswer } from '../shapes/claims.ts'
import { AnswerBody, ApproveTask, AskBody, CompleteBody, RejectTask, SkipBody } from '../shapes/people.ts'
import { TaskView } from '../shapes/tasks.ts'

/** What holders ask of people, and what people decide about tasks. */

/** The largest result that any workspace can allow; the limit of the workspace itself is checked later. */
const LARGEST_RESULT_BODY = 101 * 1024 * 1024

export const askPerson = endpoint({
  method: 'POST',
  path: '/tasks/:id/ask',
  summary: 'Ask a person: the claim ends, and the task waits for the answer',
  tag: 'claims',
  needs: 'work',
  params: IdParams,
  body: AskBody,
  answer: AskAnswer,
})

const common = { tag: 'tasks', needs: 'operate', params: IdParams, answer: TaskView } as const

/** Judging a result. */
const judge = <const A extends string, B extends z.ZodType>(name: A, summary: string, body: B) =>
  endpoint({ method: 'POST', path: `/tasks/:id/${name}`, summary, ...common, body, bodyIsOptional: true })

export const approveTask = judge('approve', 'Approve the result of a task', ApproveTask)
export const rejectTask = judge('reject', 'Reject the result of a task', RejectTask)

export const answerTask = endpoint({
  method: 'POST',
  path: '/tasks/:id/answer',
  summary: 'Answer the question of a task: it is queued again',
  body: AnswerBody,
  ...common,
})

export const completeTask = endpoint({
  method: 'POST',
  path: '/tasks/:id/complete',
  summary: 'Complete a task with a result of your own',
  body: CompleteBody,
  bodyLimit: LARGEST_RESULT_BODY,
  ...common,
})

export const skipTask = endpoint({
  method: 'POST',
  path: '/tasks/:id/skip',
  summary: 'Skip a task',
  body: SkipBody,
  ...common,
})
