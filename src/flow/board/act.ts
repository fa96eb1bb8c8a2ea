import type { z } from 'zod'
import type { TaskCommand } from '../../core/commands.ts'
import { Refused } from '../../core/errors.ts'
import type { ActAnswer, ActBody } from '../../core/shapes/board.ts'
import type { AnswerOf } from '../../core/shapes/common.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { commandOfAct } from '../task-acts.ts'
import { command, readStates } from '../tasks.ts'

/** One act on many tasks: each is decided for itself. */

type Body = z.output<typeof ActBody>
type Outcome = AnswerOf<typeof ActAnswer>['items'][number]

export async function actOnTasks(
  kernel: ServerKernel,
  caller: Caller,
  { act, ids, items, reason }: Body,
): Promise<AnswerOf<typeof ActAnswer>> {
  if (ids === undefined && items === undefined)
    throw Refused.field('VALIDATION_FAILED', 'ids', 'is missing; name tasks here or in items')
  const asked = [...(ids ?? []).map((id) => ({ id, generation: undefined })), ...(items ?? [])]
  const outcomes = await Promise.all(
    asked.map(({ id, generation }) =>
      actOn(kernel, forOne(caller, id), id, commandOfAct(act, { reason, generation })),
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
    return { id, ...outcomes[i]!, state, generation, version }
  })
  return { items: all, done: all.filter(({ done }) => done).length }
}

/** Each act is remembered under a key of its own. */
const forOne = (caller: Caller, id: string): Caller =>
  caller.idempotency
    ? { ...caller, idempotency: { ...caller.idempotency, key: `${caller.idempotency.key} ${id}` } }
    : caller

async function actOn(
  kernel: ServerKernel,
  caller: Caller,
  id: string,
  act: TaskCommand,
): Promise<Pick<Outcome, 'done' | 'code' | 'detail'>> {
  try {
    await command(kernel, caller, id, act)
    return { done: true, code: null, detail: null }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { done: false, code: error.code, detail: error.refusal.detail }
  }
}
