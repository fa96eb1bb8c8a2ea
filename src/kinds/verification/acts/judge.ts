import type { RunKernel } from '../../../door/server-kernel.ts'
import { systemCaller } from '../../../kernel/caller.ts'
import type { Caller, Kernel } from '../../../kernel/kernel.ts'
import { isTerminal } from '../../../pure/states.ts'
import { planningEnded } from '../../mission/acts/planning-task.ts'
import type { TaskRecord } from '../../task/record.ts'
import { judgePlan } from './judge-plan.ts'
import { cancelVerifications, judgeVerification, verificationEnded } from './verdicts.ts'
import { verify } from './verify.ts'

/** What Baton does with results that it judges itself. Each step may be repeated, and upkeep repeats what was lost. */

/** Stores that hold no missions hold no such results. */
const holdsMissions = (kernel: Kernel): kernel is RunKernel => 'verifications' in kernel.store

export async function judgeAll(
  kernel: Kernel,
  workspaceId: number,
  tasks: readonly TaskRecord[],
): Promise<void> {
  if (!holdsMissions(kernel)) return
  for (const task of tasks) await judge(kernel, systemCaller(workspaceId), task)
}

async function judge(kernel: RunKernel, caller: Caller, task: TaskRecord): Promise<void> {
  const { purpose, state } = task
  if (state === 'verifying') {
    if (purpose === 'planning') return judgePlan(kernel, caller, task)
    return purpose === 'verification' ? judgeVerification(kernel, caller, task) : verify(kernel, caller, task)
  }
  if (purpose === 'work') return cancelVerifications(kernel, caller, task)
  if (!isTerminal(state) || state === 'completed') return
  if (purpose === 'verification') await verificationEnded(kernel, caller, task)
  if (purpose === 'planning') await planningEnded(kernel, caller, task.missionId!)
}
