import type { z } from 'zod'
import type { Execution } from '../../../door/execution.ts'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { forOne, outcomeOf } from '../../../kernel/many.ts'
import { Refused } from '../../../pure/errors.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import type { InboxAnswers, InboxOutcomes } from '../shapes.ts'
import { answerInboxItem } from './answer.ts'

/** How many are answered at a time: each needs a connection to the database. */
const AT_A_TIME = 4

/** One decision about several items, each bound to what was seen of it. */
export async function answerInboxItems(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  { items, ...decision }: z.output<typeof InboxAnswers>,
): Promise<AnswerOf<typeof InboxOutcomes>> {
  const named = new Set(items.map(({ id }) => id))
  if (named.size < items.length)
    throw Refused.field('VALIDATION_FAILED', 'items', 'names an item more than once')
  const outcomes: AnswerOf<typeof InboxOutcomes>['items'][number][] = []
  const answerOne = async ({ id, ...seen }: (typeof items)[number]) => {
    const { answer, refused } = await outcomeOf(() =>
      answerInboxItem(kernel, execution, forOne(caller, id), id, { ...decision, ...seen }),
    )
    if (answer) return { id, done: true, state: answer.state, code: null, detail: null }
    return { id, done: false, state: null, code: refused.code, detail: refused.refusal.detail }
  }
  for (let first = 0; first < items.length; first += AT_A_TIME)
    outcomes.push(...(await Promise.all(items.slice(first, first + AT_A_TIME).map(answerOne))))
  return { items: outcomes, done: outcomes.filter(({ done }) => done).length }
}
