import type { RunKernel } from '../../door/server-kernel.ts'
import type { UpkeepStep } from '../../door/upkeep-step.ts'
import { refusalOf, systemCaller, throwIfNotLeader } from '../../kernel/caller.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { MissionToSettle, RunStore, TaskChore } from '../../kernel/store/run-store.ts'
import { BATCH, type UpkeepContext } from '../../kernel/upkeep-context.ts'
import { Refused } from '../../pure/errors.ts'
import { commandAgent } from '../agent/acts/agents.ts'
import type { TaskCommand } from '../task/command.ts'
import { startCommand } from './acts/missions.ts'
import { planningEnded } from './acts/planning-task.ts'
import type { MissionCommand } from './rules/command.ts'
import { tasksToReopen } from './rules/retry.ts'

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

/**
 * Returns how many missions had something to do. A chore that is not finished is found again: at once, as after a full
 * batch, if a mission has more tasks than one transaction changes. A tick for every 500 of them would take seconds.
 */
export async function settleMissions({ kernel, term, only }: UpkeepContext<RunStore>): Promise<number> {
  const due = await kernel.store.missions.toSettle(BATCH, only)
  const hasMore = await Promise.all(due.map((mission) => settleMission(kernel, mission, term)))
  return hasMore.includes(true) ? BATCH : due.length
}

/** Whether it had more tasks to change than one transaction does. */
async function settleMission(
  kernel: RunKernel,
  { workspaceId, missionId, uuid, chore }: MissionToSettle,
  term: number | undefined,
): Promise<boolean> {
  const caller = systemCaller(workspaceId, term)
  if (chore === 'hold' || chore === 'cancel' || chore === 'release' || chore === 'retry') {
    const tasks = await kernel.store.missions.tasksFor(workspaceId, missionId, chore, TASKS_AT_A_TIME)
    const changed = await commandTasks(kernel, caller, tasks, COMMANDS[chore])
    if (tasks.length === 0 && chore === 'retry') await finishRetry(kernel, caller, { missionId, uuid })
    // If all were refused, they would be again: that waits for the next tick.
    return tasks.length === TASKS_AT_A_TIME && changed > 0
  }
  if (chore === 'start') await startMission(kernel, caller, uuid)
  else if (chore === 'planFailed') await planningEnded(kernel, caller, missionId)
  else if (chore === 'snapshot') {
    const byTask = await kernel.store.missions.costliest(workspaceId, missionId, COSTLIEST)
    await commandMission(kernel, caller, uuid, { kind: 'snapshot', byTask })
  } else await commandMission(kernel, caller, uuid, OWN_COMMANDS[chore])
  return false
}

/** Returns how many changed. */
async function commandTasks(
  kernel: RunKernel,
  caller: Caller,
  tasks: readonly { id: number; uuid: string }[],
  command: TaskCommand,
): Promise<number> {
  if (tasks.length === 0) return 0
  const items = tasks.map((task) => ({ taskId: task.id, uuid: task.uuid, command }))
  const reply = throwIfNotLeader(await kernel.run(caller, { on: 'many', items }))
  return reply.ok ? reply.replies.filter(({ ok }) => ok).length : 0
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

/** Terminates contractors whose mission has ended, and lets those work again whose mission is open again. */
export async function settleContractors({ kernel, term, only }: UpkeepContext<RunStore>): Promise<number> {
  const due = await kernel.store.agents.contractorsToSettle(BATCH, only)
  await Promise.all(
    due.map(({ workspaceId, slug, missionId }) =>
      commandAgent(kernel, systemCaller(workspaceId, term), slug, { kind: 'followMission', missionId }).catch(
        (error) => {
          // A person deleted it meanwhile.
          if (!(error instanceof Refused) || error.code !== 'NOT_FOUND') throw error
        },
      ),
    ),
  )
  return due.length
}

export const missionSteps: readonly UpkeepStep[] = [
  { name: 'missionsSettled', phase: 'settle', everyMs: 0, run: settleMissions },
  // Before assignment: a contractor whose mission is open again gets its tasks in the same pass.
  { name: 'contractorsSettled', phase: 'settle', everyMs: 0, run: settleContractors },
]
