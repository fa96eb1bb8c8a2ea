import type { z } from 'zod'
import { actsOf } from '../../../door/door.ts'
import * as api from '../api/people.ts'
import type { TaskCommand } from '../command.ts'
import type { ApproveTask } from '../shapes/people.ts'
import { commentFrom } from './comment-from.ts'
import { submissionOf } from './results.ts'
import { briefView, command, operate } from './tasks.ts'

/** What holders ask of people, and what people do in place of holders. */

const commentIn = ({ comment, reason }: z.output<typeof ApproveTask>) => comment ?? reason ?? null

export const peopleActs = actsOf(api)({
  askPerson: async ({ kernel }, { params, body: { question, options = [], ...fence }, caller }) => {
    const asked = { kind: 'ask', fence, question, options: [...new Set(options)] } as const
    const reply = await command(kernel, caller, params.id, asked)
    return { reason: reply.reason, task: briefView(reply.record) }
  },
  approveTask: ({ kernel }, { params, body, caller }) => {
    const { generation, digest } = body
    const comment = commentIn(body)
    const command = { kind: 'approve', comment, generation, digest } as const
    return operate(kernel, caller, params.id, command, commentFrom(comment))
  },
  rejectTask: ({ kernel }, { params, body, caller }) => {
    const { generation, digest, fresh } = body
    const comment = commentIn(body)
    const forGood = body.then === 'fail'
    const command = { kind: 'reject', comment, generation, digest, forGood, fresh } as const
    return operate(kernel, caller, params.id, command, commentFrom(comment))
  },
  answerTask: ({ kernel }, { params, body, caller }) =>
    operate(kernel, caller, params.id, { kind: 'answer', ...body }),
  /** A person gives the result of a task. */
  completeTask: async ({ kernel }, { params, body: { comment, generation, ...work }, caller }) => {
    const submission = await submissionOf(kernel, caller, work)
    const act: TaskCommand = { kind: 'complete', submission, comment: comment ?? null, generation }
    return operate(kernel, caller, params.id, act, commentFrom(comment))
  },
  skipTask: ({ kernel }, { params, body, caller }) =>
    operate(kernel, caller, params.id, { kind: 'skip', ...body }),
})
