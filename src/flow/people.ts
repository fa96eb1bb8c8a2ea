import type { z } from 'zod'
import type { TaskCommand } from '../core/commands.ts'
import type { AskAnswer } from '../core/shapes/claims.ts'
import type { AnswerOf } from '../core/shapes/common.ts'
import type { AskBody, CompleteBody } from '../core/shapes/people.ts'
import type { TaskView } from '../core/shapes/tasks.ts'
import type { Caller, Kernel } from '../kernel/kernel.ts'
import { submissionOf } from './results.ts'
import { saidIn } from './said.ts'
import { briefView, command, operate } from './tasks.ts'

/** What holders ask of people, and what people do in place of holders. */

export async function askPerson(
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
export async function completeTask(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  { comment, generation, ...work }: z.output<typeof CompleteBody>,
): Promise<AnswerOf<typeof TaskView>> {
  const submission = await submissionOf(kernel, caller, work)
  const act: TaskCommand = { kind: 'complete', submission, comment: comment ?? null, generation }
  return operate(kernel, caller, uuid, act, saidIn(comment))
}
