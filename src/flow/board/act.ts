import type { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import type { ActAnswer, ActBody } from '../../core/shapes/board.ts'
import type { AnswerOf } from '../../core/shapes/common.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { forOne, outcomeOf } from '../many.ts'
import { saidIn } from '../said.ts'
import { commandOfAct } from '../task-acts.ts'
import { command, readStates } from '../tasks.ts'

/** One act on many tasks: each is decided separately. */

type Body = z.output<typeof ActBody>
type Outcome = AnswerOf<typeof ActAnswer>['items'][number]

export async function actOnTasks(
  kernel: ServerKernel,
  caller: Caller,
  { act, ids, items, reason, comment }: Body,
): Promise<AnswerOf<typeof ActAnswer>> {
  if (ids === undefined && items === undefined)
    throw Refused.field('VALIDATION_FAILED', 'ids', 'is missing; name tasks here or in items')
  const asked = [...(ids ?? []).map((id) => ({ id, generation: undefined })), ...(items ?? [])]
  const outcomes = await Promise.all(
    asked.map(({ id, generation }) =>
      outcomeOf(() =>
        command(kernel, forOne(caller, id), id, commandOfAct(act, { reason, generation }), saidIn(comment)),
      ),
    ),
  )
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
    const { refused } = outcomes[i]!
    const why = { code: refused?.code ?? null, detail: refused?.refusal.detail ?? null }
    return { id, done: refused === null, ...why, state, generation, version }
  })
  return { items: all, done: all.filter(({ done }) => done).length }
}
