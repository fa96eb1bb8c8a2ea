import type { StepContext, UpkeepStep } from '../../door/upkeep-step.ts'
import { systemCaller } from '../../kernel/caller.ts'
import { BATCH } from '../../kernel/upkeep-context.ts'
import { Assignment } from '../agent/acts/assignment.ts'
import { wakeByClock, wakeForWork } from './acts/wakeups.ts'
import { deleteOldWakeups } from './postgres/wakeups.ts'

/** Workspaces with agents that can get assignments, from the last query: a hint which commits matter. */
export class Assignable extends Set<number> {}

/** Assigns work in every workspace with agents that can get assignments. */
async function assign(context: StepContext): Promise<number> {
  const workspaces = await context.kernel.store.assignment.workspaces(context.only)
  const assignable = context.kept(Assignable)
  assignable.clear()
  for (const { workspaceId } of workspaces) assignable.add(workspaceId)
  const waiting = workspaces.filter(({ isWorkWaiting }) => isWorkWaiting)
  const assigned = await Promise.all(waiting.map(({ workspaceId }) => assignIn(context, workspaceId)))
  return assigned.reduce((sum, one) => sum + one, 0)
}

/** Assigns work, and wakes the agents that Baton runs at once. */
export async function assignIn({ kernel, term, kept }: StepContext, workspaceId: number): Promise<number> {
  const assigned = await kept(Assignment).assign(kernel, {
    ...systemCaller(workspaceId, term),
    actor: 'coordinator',
  })
  if (assigned > 0) await wakeForWork(kernel, workspaceId, term)
  return assigned
}

/** Wakeups for assigned work without one, and for due timers. */
async function wake({ kernel, only, term }: StepContext): Promise<number> {
  return (await wakeForWork(kernel, only ?? null, term)) + (await wakeByClock(kernel, only, BATCH, term))
}

async function forgetOldWakeups({ kernel }: StepContext): Promise<number> {
  await deleteOldWakeups(kernel.store)
  return 0
}

export const runSteps: readonly UpkeepStep[] = [
  { name: 'tasksAssigned', phase: 'assign', everyMs: 0, run: assign },
  { name: 'agentsWoken', phase: 'assign', everyMs: 500, run: wake },
  { name: 'oldWakeups', phase: 'clean', everyMs: 3_600_000, run: forgetOldWakeups },
]
