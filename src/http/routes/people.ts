import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import type { TaskCommand } from '../../core/commands.ts'
import { AskAnswer } from '../../core/shapes/claims.ts'
import {
  AnswerBody,
  ApproveTask,
  AskBody,
  CompleteBody,
  RejectTask,
  SkipBody,
} from '../../core/shapes/people.ts'
import { TaskView } from '../../core/shapes/tasks.ts'
import { askPerson, completeTask } from '../../flow/people.ts'
import { saidIn } from '../../flow/said.ts'
import { operate } from '../../flow/tasks.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { IdParams, route } from '../schema.ts'

/** What holders ask of people, and what people decide about tasks. */

type OnTask<B extends z.ZodType> = { Params: { id: string }; Body: z.output<B> }

/** The largest result that any workspace can allow; the limit of the workspace itself is checked later. */
const LARGEST_RESULT_BODY = 101 * 1024 * 1024

export function peopleRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  app.post<OnTask<typeof AskBody>>(
    '/tasks/:id/ask',
    route({
      summary: 'Ask a person: the claim ends, and the task waits for the answer',
      tag: 'claims',
      needs: 'work',
      params: IdParams,
      body: AskBody,
      answer: AskAnswer,
    }),
    ({ params, body, caller }) => askPerson(kernel, caller, params.id, body),
  )
  judgeRoutes(app, kernel)
  insteadOfHolders(app, kernel)
}

/** Judging a result. */
function judgeRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  const judge = <B extends typeof ApproveTask | typeof RejectTask>(
    name: string,
    summary: string,
    shape: B,
    commandOf: (body: Partial<z.output<B>>, comment: string | null) => TaskCommand,
  ) =>
    app.post<OnTask<z.ZodType>>(
      `/tasks/:id/${name}`,
      route({
        summary,
        tag: 'tasks',
        needs: 'operate',
        params: IdParams,
        body: shape,
        bodyIsOptional: true,
        answer: TaskView,
      }),
      async ({ params, body, caller }) => {
        const given = (body ?? {}) as Partial<z.output<B>>
        const comment = given.comment ?? given.reason ?? null
        return operate(kernel, caller, params.id, commandOf(given, comment), saidIn(comment))
      },
    )
  judge('approve', 'Approve the result of a task', ApproveTask, ({ generation, digest }, comment) => ({
    kind: 'approve',
    comment,
    generation,
    digest,
  }))
  judge('reject', 'Reject the result of a task', RejectTask, (body, comment) => ({
    kind: 'reject',
    comment,
    generation: body.generation,
    digest: body.digest,
    forGood: body.then === 'fail',
  }))
}

function insteadOfHolders(app: FastifyInstance, kernel: ServerKernel): void {
  const common = { tag: 'tasks', needs: 'operate', params: IdParams, answer: TaskView } as const
  app.post<OnTask<typeof AnswerBody>>(
    '/tasks/:id/answer',
    route({ summary: 'Answer the question of a task: it is queued again', body: AnswerBody, ...common }),
    ({ params, body, caller }) => operate(kernel, caller, params.id, { kind: 'answer', ...body }),
  )
  app.post<OnTask<typeof CompleteBody>>(
    '/tasks/:id/complete',
    route({
      summary: 'Complete a task with a result of your own',
      body: CompleteBody,
      bodyLimit: LARGEST_RESULT_BODY,
      ...common,
    }),
    ({ params, body, caller }) => completeTask(kernel, caller, params.id, body),
  )
  app.post<OnTask<typeof SkipBody>>(
    '/tasks/:id/skip',
    route({ summary: 'Skip a task', body: SkipBody, ...common }),
    ({ params, body, caller }) => operate(kernel, caller, params.id, { kind: 'skip', ...body }),
  )
}
