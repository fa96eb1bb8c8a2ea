import type { TaskCommand } from '../../core/commands.ts'
import { type Refusal, Refused } from '../../core/errors.ts'
import type { MissionCommand } from '../../core/kinds/mission/command.ts'
import { tasksToReopen } from '../../core/kinds/mission/retry.ts'
import type { Granted } from '../../core/replies.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { RunKernel } from '../../kernel/server-kernel.ts'
import type { MissionToSettle, TaskChore } from '../../store/run-store.ts'
import { planningEnded } from '../planning/judge-plan.ts'
import { system, throwIfNotLeader, unblockAfter } from '../unblock.ts'
import { startCommand } from './missions.ts'

/** What follows for the tasks of a mission when its gate closes or opens, and for the mission when its tasks have ended. */

/** How many tasks one transaction changes. */
const TASKS_AT_A_TIME = 500
/** How many tasks a cost_snapshot names. */
const COSTLIEST = 10

const COMMANDS: Record<TaskChore, TaskCommand> = {
  hold: { kind: 'pause', reason: 'Its mission is closed.', byMission: true },
  cancel: { kind: 'cancel', reason: 'Its mission was stopped.' },
  release: { kind: 'resume' },
  retry: { kind: 'retry', reason: 'Its mission is retried.' },
}

/** What the mission itself does. */
const OWN_COMMANDS: Record<'settle' | 'budget', MissionCommand> = {
  settle: { kind: 'settle' },
  budget: { kind: 'checkBudget' },
}

/** Returns how many missions had something to do. A chore that is not finished is found again. */
export async function settleMissions(
  kernel: RunKernel,
  limit: number,
  { term, only }: { term?: number | undefined; only?: number | undefined },
): Promise<number> {
  const due = await kernel.store.missions.toSettle(limit, only)
  await Promise.all(due.map((mission) => settleMission(kernel, mission, term)))
  return due.length
}

async function settleMission(
  kernel: RunKernel,
  { workspaceId, missionId, uuid, chore }: MissionToSettle,
  term: number | undefined,
): Promise<void> {
  const caller = system(workspaceId, term)
  if (chore === 'start') return startMission(kernel, caller, uuid)
  if (chore === 'planFailed') return planningEnded(kernel, caller, missionId)
  if (chore === 'settle' || chore === 'budget') {
    await commandMission(kernel, caller, uuid, OWN_COMMANDS[chore])
    return
  }
  if (chore === 'snapshot') {
    const byTask = await kernel.store.missions.costliest(workspaceId, missionId, COSTLIEST)
    await commandMission(kernel, caller, uuid, { kind: 'snapshot', byTask })
    return
  }
  const tasks = await kernel.store.missions.tasksFor(workspaceId, missionId, chore, TASKS_AT_A_TIME)
  if (tasks.length > 0) await commandTasks(kernel, caller, tasks, COMMANDS[chore])
  else if (chore === 'retry') await finishRetry(kernel, caller, { missionId, uuid })
}

/** Tasks that depend on those that changed learn it. */
async function commandTasks(
  kernel: RunKernel,
  caller: Caller,
  tasks: readonly { id: number; uuid: string }[],
  command: TaskCommand,
): Promise<void> {
  const items = tasks.map((task) => ({ taskId: task.id, uuid: task.uuid, command }))
  const reply = throwIfNotLeader(await kernel.run(caller, { on: 'many', items }))
  if (!reply.ok) return
  const changed = reply.replies.flatMap((one) => (one.ok && 'record' in one ? [one.record] : []))
  await unblockAfter(kernel, caller.workspaceId, changed, command.kind)
}

/** All that had failed is queued: now what was skipped because of it waits again, each task after those it depends on. */
async function finishRetry(
  kernel: RunKernel,
  caller: Caller,
  { missionId, uuid }: Pick<MissionToSettle, 'missionId' | 'uuid'>,
): Promise<void> {
  const { missions } = kernel.store
  const mission = await missions.find(caller.workspaceId, missionId)
  const reopened = tasksToReopen(await missions.skipped(caller.workspaceId, missionId))
  const command = { kind: 'waitAgain', because: 'its mission is retried' } as const
  for (let from = 0; from < reopened.length; from += TASKS_AT_A_TIME)
    await commandTasks(kernel, caller, reopened.slice(from, from + TASKS_AT_A_TIME), command)
  const retryAt = mission?.retryAt ?? null
  if (retryAt !== null) await commandMission(kernel, caller, uuid, { kind: 'retried', retryAt })
}

const commandMission = async (kernel: RunKernel, caller: Caller, uuid: string, command: MissionCommand) =>
  throwIfNotLeader(await kernel.run(caller, { on: 'mission', key: uuid, uuid, command }))

/** A plan that was valid when it was given may be refused by now. A person has to plan then: otherwise it stays due. */
async function startMission(kernel: RunKernel, caller: Caller, uuid: string): Promise<void> {
  const refusal = await refusalOf(async () =>
    commandMission(kernel, caller, uuid, await startCommand(kernel, caller, uuid)),
  )
  if (refusal) await commandMission(kernel, caller, uuid, { kind: 'planFailed', reason: refusal.detail })
}

async function refusalOf(act: () => Promise<Granted | Refusal>): Promise<Refusal | null> {
  try {
    const reply = await act()
    return reply.ok ? null : reply
  } catch (error) {
    if (error instanceof Refused && error.code !== 'NOT_LEADER') return error.refusal
    throw error
  }
}
