import type { Execution } from '../../../../door/execution.ts'
import type { ServerKernel } from '../../../../door/server-kernel.ts'
import type { Caller } from '../../../../kernel/kernel.ts'
import { Refused } from '../../../../pure/errors.ts'
import type { AnswerOf } from '../../../../pure/shapes.ts'
import type { TailsAnswer } from '../../shapes/logs.ts'
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
