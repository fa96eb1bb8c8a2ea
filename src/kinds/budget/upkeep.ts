import type { StepContext, UpkeepStep } from '../../door/upkeep-step.ts'
import { systemCaller, throwIfNotLeader } from '../../kernel/caller.ts'
import { BATCH } from '../../kernel/upkeep-context.ts'
import { releaseReservation } from '../usage/rules/release.ts'

/** New periods, and counters that are compared with the ledger. */
async function elapse({ kernel, term, only }: StepContext): Promise<number> {
  const due = await kernel.store.budgets.due(BATCH, only)
  for (const { workspaceId, budgetId } of due) {
    const request = { on: 'budget', key: budgetId, uuid: budgetId, command: { kind: 'elapse' } } as const
    throwIfNotLeader(await kernel.run(systemCaller(workspaceId, term), request))
  }
  return due.length
}

/** What a budget stopped continues when it has room again. */
async function resume({ kernel, term, only }: StepContext): Promise<number> {
  const tasks = await kernel.store.budgets.toResume(BATCH, only)
  for (const { workspaceId, id, uuid } of tasks) {
    const request = { on: 'task', taskId: id, uuid, command: { kind: 'resume' } } as const
    throwIfNotLeader(await kernel.run(systemCaller(workspaceId, term), request))
  }
  return tasks.length
}

/** Reservations of claims and runs that are over: their end was not seen by the budgets. */
async function sweep({ kernel, term, only }: StepContext): Promise<number> {
  const orphans = await kernel.store.budgets.orphans(BATCH, only)
  for (const { workspaceId, ...holder } of orphans)
    await kernel.step({ workspaceId, term }, releaseReservation(holder))
  return orphans.length
}

export const budgetSteps: readonly UpkeepStep[] = [
  { name: 'budgetsElapsed', phase: 'expire', everyMs: 0, run: elapse },
  { name: 'budgetsResumed', phase: 'expire', everyMs: 0, run: resume },
  { name: 'reservationsSwept', phase: 'expire', everyMs: 60_000, run: sweep },
]
