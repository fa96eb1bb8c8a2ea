import type { RunKernel } from '../../../door/server-kernel.ts'
import { throwIfNotLeader } from '../../../kernel/caller.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import type { TaskRecord } from '../../task/record.ts'
import { readVerdict } from '../rules.ts'
import { giveVerdict, verdictCommand, waitingResult, whyEnded, withoutVerdict } from './verify.ts'

/** What follows from a verification: for the task it judges, and for itself. */

/** It has an answer: both tasks get what follows from it, in one transaction. Nonsense is given back. */
export async function judgeVerification(
  kernel: RunKernel,
  caller: Caller,
  record: TaskRecord,
): Promise<void> {
  const { workspaceId } = caller
  const verification = await waitingResult(kernel, workspaceId, record)
  if (!verification) return
  const { id, uuid, generation, serves, agent } = verification.record
  const own = { verifier: 'baton', score: null, verification: null }
  const reading = readVerdict(verification.result.data)
  if (!reading.ok)
    return giveVerdict(kernel, caller, record, {
      ...{ kind: 'verdict', verdict: 'failed', note: reading.problem, generation, given: own },
    })
  const judged = await kernel.store.task(workspaceId, serves!.taskId)
  if (judged?.record.generation !== serves!.generation) return cancelTasks(kernel, caller, [record])
  const by = { verifier: agent!, verification: uuid }
  const command = await verdictCommand(kernel, workspaceId, judged, reading.verdict, by)
  const items = [
    { taskId: id, uuid, command: { kind: 'verdict', verdict: 'passed', note: null, generation, given: own } },
    { taskId: judged.record.id, uuid: judged.record.uuid, command },
  ] as const
  throwIfNotLeader(await kernel.run(caller, { on: 'many', items }))
}

/** It ended without a verdict: a person has to judge. */
export async function verificationEnded(
  kernel: RunKernel,
  caller: Caller,
  record: TaskRecord,
): Promise<void> {
  const { taskId, uuid, generation } = record.serves!
  const why = await whyEnded(kernel, caller.workspaceId, record)
  await giveVerdict(kernel, caller, { id: taskId, uuid }, withoutVerdict(generation, why))
}

/** A task left `verifying` in another way: it no longer needs a verdict. */
export async function cancelVerifications(
  kernel: RunKernel,
  caller: Caller,
  { id, state, generation }: TaskRecord,
): Promise<void> {
  const all = await kernel.store.verifications.of(caller.workspaceId, id)
  const isNeeded = ({ serves }: TaskRecord) => state === 'verifying' && serves?.generation === generation
  const open = all.filter((one) => one.completedAt === null && !isNeeded(one))
  await cancelTasks(kernel, caller, open)
}

/** Tasks that nothing needs any longer. */
export async function cancelTasks(
  kernel: RunKernel,
  caller: Caller,
  tasks: readonly Pick<TaskRecord, 'id' | 'uuid'>[],
): Promise<void> {
  if (tasks.length === 0) return
  const command = { kind: 'cancel', reason: 'It is no longer needed.' } as const
  const items = tasks.map(({ id, uuid }) => ({ taskId: id, uuid, command }))
  throwIfNotLeader(await kernel.run(caller, { on: 'many', items }))
}
