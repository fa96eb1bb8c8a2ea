import { Refused } from '../../core/errors.ts'
import type { AnswerOf } from '../../core/shapes/common.ts'
import type { TailsAnswer } from '../../core/shapes/run-logs.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { Execution } from '../execution.ts'
import { readRunLog } from '../runs.ts'

type Tail = AnswerOf<typeof TailsAnswer>['items'][number]

/** The ends of several logs. What is not in this workspace, or has no log, is left out. */
export async function tailsOf(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  ids: readonly string[],
  limitBytes: number,
): Promise<Tail[]> {
  const tailOf = async (id: string): Promise<Tail[]> => {
    try {
      const log = await readRunLog(kernel, execution, caller, id, { offset: 'tail', limitBytes })
      const { status, runId, offset, content, spans } = log
      return status === 'log_unavailable' ? [] : [{ runId, offset, content, spans }]
    } catch (error) {
      if (error instanceof Refused && error.code === 'NOT_FOUND') return []
      throw error
    }
  }
  return (await Promise.all([...new Set(ids)].map(tailOf))).flat()
}
