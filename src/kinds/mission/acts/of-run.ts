import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import { readTask } from '../../task/acts/tasks.ts'

/** A run comments and reports on the mission of its own task only. */
export async function mustBeMissionOfRun(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  what: 'comments' | 'reports',
): Promise<void> {
  const { run } = caller
  if (!run) return
  const task = run.taskUuid === null ? null : await readTask(kernel, caller, run.taskUuid)
  if (task?.details.mission !== uuid)
    throw new Refused('FORBIDDEN', `A run token allows ${what} only on the mission of the task of the run.`)
}
