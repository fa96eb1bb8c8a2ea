import type { z } from 'zod'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import { type Caller, granted } from '../../../kernel/kernel.ts'
import { commandOfAct } from '../../../kinds/task/acts/commands.ts'
import { commentFrom } from '../../../kinds/task/acts/comment-from.ts'
import { readStates } from '../../../kinds/task/acts/tasks.ts'
import { Refused } from '../../../pure/errors.ts'
import { idCarriedBy } from '../../../pure/ids.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import type { ActAnswer, ActBody } from '../shapes.ts'

/** One act on many tasks: each is decided separately. */

type Body = z.output<typeof ActBody>
type Outcome = AnswerOf<typeof ActAnswer>['items'][number]

/** No task has this number: what names none is refused like a task that does not exist. */
const NO_TASK = 0

export async function actOnTasks(
  kernel: ServerKernel,
  caller: Caller,
  { act, ids, items, reason, comment }: Body,
): Promise<AnswerOf<typeof ActAnswer>> {
  if (ids === undefined && items === undefined)
    throw Refused.field('VALIDATION_FAILED', 'ids', 'is missing; name tasks here or in items')
  const asked = [...(ids ?? []).map((id) => ({ id, generation: undefined })), ...(items ?? [])]
  const onTasks = asked.map(({ id, generation }) => ({
    ...{ taskId: idCarriedBy(id) ?? NO_TASK, uuid: id, said: commentFrom(comment) },
    command: commandOfAct(act, { reason, generation }),
  }))
  // One request, so that a repeat under the same idempotency key does nothing twice.
  const { replies } = granted(await kernel.run(caller, { on: 'many', items: onTasks }))
  const now = new Map(
    (
      await readStates(
        kernel,
        caller,
        asked.map(({ id }) => id),
      )
    ).map((task) => [task.id, task]),
  )
  const all = asked.map(({ id }, i): Outcome => {
    const { state = null, generation = null, version = null } = now.get(id) ?? {}
    const reply = replies[i]!
    const why = reply.ok ? { code: null, detail: null } : { code: reply.code, detail: reply.detail }
    return { id, done: reply.ok, ...why, state, generation, version }
  })
  return { items: all, done: all.filter(({ done }) => done).length }
}
