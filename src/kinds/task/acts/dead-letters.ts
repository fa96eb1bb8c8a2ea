import { actsOf } from '../../../door/door.ts'
import type { Caller, Kernel } from '../../../kernel/kernel.ts'
import { once } from '../../../kernel/once.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import * as api from '../api/dead-letters.ts'
import type { RetryBatchAnswer } from '../shapes/claims.ts'
import { onTask, outcome, runMany } from './claims.ts'
import { taskPage } from './list.ts'
import { briefView } from './tasks.ts'

/** Dead letters: tasks that failed because their attempts or generations ran out. A person decides what happens next. */

const AT_ONCE = 500

type Retried = AnswerOf<typeof RetryBatchAnswer>

/** Items are independent: a task that is no longer a dead letter gets the reason for its refusal. */
export async function retryDeadLetters(
  kernel: Kernel,
  caller: Caller,
  {
    taskIds,
    limit,
    reason,
  }: { taskIds?: readonly string[] | undefined; limit: number; reason: string | null },
): Promise<Retried> {
  const command = { kind: 'retry', reason } as const
  const results: Retried['results'][number][] = []
  const retry = async (uuids: readonly string[]) => {
    const replies = await runMany(kernel, caller, uuids, (uuid) => onTask(uuid, command))
    replies.forEach((reply, i) => {
      results.push({
        taskId: uuids[i]!,
        ...outcome(reply, ({ reason, record }) => ({ reason, task: briefView(record) })),
      })
    })
  }
  if (taskIds) await retry(taskIds)
  else {
    let before: number | undefined
    while (results.length < limit) {
      const wanted = Math.min(AT_ONCE, limit - results.length)
      const page = await kernel.store.records(caller.workspaceId, { deadLetters: true, before }, wanted)
      if (page.length === 0) break
      before = page.at(-1)!.id
      await retry(page.map(({ uuid }) => uuid))
    }
  }
  return { retried: results.filter((result) => result.reason === 'DONE').length, results }
}

export const deadLetterActs = actsOf(api)({
  listDeadLetters: ({ kernel }, call) => taskPage(kernel, call, { deadLetters: true }),
  retryDeadLetters: ({ kernel }, { body, caller }) => {
    const retry = (by: Caller) => retryDeadLetters(kernel, by, { ...body, reason: body.reason ?? null })
    // "All" takes several requests. Under one idempotency key the second would get the answer of the first.
    return body.taskIds ? retry(caller) : once(kernel, caller, retry)
  },
})
