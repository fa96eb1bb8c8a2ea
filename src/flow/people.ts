import type { z } from 'zod'
import * as api from '../core/api/people.ts'
import type { TaskCommand } from '../core/commands.ts'
import type { AskAnswer } from '../core/shapes/claims.ts'
import type { AnswerOf } from '../core/shapes/common.ts'
import type { ApproveTask, AskBody, CompleteBody } from '../core/shapes/people.ts'
import type { TaskView } from '../core/shapes/tasks.ts'
import type { Caller, Kernel } from '../kernel/kernel.ts'
import { actsOf } from './acts.ts'
import { submissionOf } from './results.ts'
import { saidIn } from './said.ts'
import { briefView, command, operate } from './tasks.ts'

/** What holders ask of people, and what people do in place of holders. */

async function askPerson(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  { question, options = [], ...fence }: z.output<typeof AskBody>,
): Promise<AnswerOf<typeof AskAnswer>> {
  const reply = await command(kernel, caller, uuid, {
    kind: 'ask',
    fence,
    question,
    options: [...new Set(options)],
  })
  return { reason: reply.reason, task: briefView(reply.record) }
}

/** A person gives the result of a task. */
async function completeTask(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  { comment, generation, ...work }: z.output<typeof CompleteBody>,
): Promise<AnswerOf<typeof TaskView>> {
  const submission = await submissionOf(kernel, caller, work)
  const act: TaskCommand = { kind: 'complete', submission, comment: comment ?? null, generation }
  return operate(kernel, caller, uuid, act, saidIn(comment))
}

const commentIn = ({ comment, reason }: z.output<typeof ApproveTask>) => comment ?? reason ?? null

export const peopleActs = actsOf(api)({
  askPerson: ({ kernel }, { params, body, caller }) => askPerson(kernel, caller, params.id, body),
  approveTask: ({ kernel }, { params, body, caller }) => {
    const { generation, digest } = body
    const comment = commentIn(body)
    const command = { kind: 'approve', comment, generation, digest } as const
    return operate(kernel, caller, params.id, command, saidIn(comment))
  },
  rejectTask: ({ kernel }, { params, body, caller }) => {
    const { generation, digest, fresh } = body
    const comment = commentIn(body)
    const forGood = body.then === 'fail'
    const command = { kind: 'reject', comment, generation, digest, forGood, fresh } as const
    return operate(kernel, caller, params.id, command, saidIn(comment))
  },
  answerTask: ({ kernel }, { params, body, caller }) =>
    operate(kernel, caller, params.id, { kind: 'answer', ...body }),
  completeTask: ({ kernel }, { params, body, caller }) => completeTask(kernel, caller, params.id, body),
  skipTask: ({ kernel }, { params, body, caller }) =>
    operate(kernel, caller, params.id, { kind: 'skip', ...body }),
})
