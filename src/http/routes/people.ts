import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import * as api from '../../core/api/people.ts'
import type { ApproveTask } from '../../core/shapes/people.ts'
import { askPerson, completeTask } from '../../flow/people.ts'
import { saidIn } from '../../flow/said.ts'
import { operate } from '../../flow/tasks.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'

/** What holders ask of people, and what people decide about tasks. */

export function peopleRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.askPerson, ({ params, body, caller }) => askPerson(kernel, caller, params.id, body))
  judgeRoutes(app, kernel)
  insteadOfHolders(app, kernel)
}

/** Judging a result. */
function judgeRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.approveTask, ({ params, body, caller }) => {
    const { generation, digest } = body
    const comment = commentIn(body)
    const command = { kind: 'approve', comment, generation, digest } as const
    return operate(kernel, caller, params.id, command, saidIn(comment))
  })
  serve(app, api.rejectTask, ({ params, body, caller }) => {
    const { generation, digest } = body
    const comment = commentIn(body)
    const forGood = body.then === 'fail'
    const command = { kind: 'reject', comment, generation, digest, forGood, fresh: body.fresh } as const
    return operate(kernel, caller, params.id, command, saidIn(comment))
  })
}

const commentIn = ({ comment, reason }: z.output<typeof ApproveTask>) => comment ?? reason ?? null

function insteadOfHolders(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.answerTask, ({ params, body, caller }) =>
    operate(kernel, caller, params.id, { kind: 'answer', ...body }),
  )
  serve(app, api.completeTask, ({ params, body, caller }) => completeTask(kernel, caller, params.id, body))
  serve(app, api.skipTask, ({ params, body, caller }) =>
    operate(kernel, caller, params.id, { kind: 'skip', ...body }),
  )
}
