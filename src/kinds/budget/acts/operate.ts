import type { z } from 'zod'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import { type Caller, granted } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import { instant } from '../../../pure/instant.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { command } from '../../task/acts/tasks.ts'
import { listBudgets, type NamedBudget, tasksStoppedBy } from '../postgres/reads.ts'
import { budgetState, percentUsed, unreserved, whyBlocked } from '../rules/room.ts'
import type { BudgetCommand } from '../rules.ts'
import type { BudgetMove, BudgetView } from '../shapes.ts'

/** What is done with a budget, here and in the inbox. */

export function budgetView(budget: NamedBudget): AnswerOf<typeof BudgetView> {
  const why = whyBlocked(budget)
  const left = unreserved(budget)
  const at = (time: number | null) => (time === null ? null : instant(time))
  return {
    ...{ id: budget.budgetId, scope: budget.scope, scopeId: budget.scopeId, scopeName: budget.scopeName },
    ...{ period: budget.period, periodStart: instant(budget.periodStart), periodEnd: at(budget.periodEnd) },
    ...{ maxUsd: budget.maxUsd, consumedUsd: budget.consumedUsd, reservedUsd: budget.reservedUsd },
    isSimulated: budget.isSimulated,
    ...{ remainingUsd: left.usd, maxTokens: budget.maxTokens, consumedTokens: budget.consumedTokens },
    ...{
      reservedTokens: budget.reservedTokens,
      remainingTokens: left.tokens,
      percentUsed: percentUsed(budget),
    },
    state: budgetState(budget),
    blockedBecause: why,
    ...{ unknownModel: budget.unknownModel, allowedModels: budget.allowedModels },
    ...{
      countNotional: budget.countNotional,
      onUnknownPrice: budget.onUnknownPrice,
      isPaced: budget.isPaced,
    },
    ...{ warnedAt: at(budget.warnedAt), exceededAt: at(budget.exceededAt) },
    ...{ stoppedAt: at(budget.stoppedAt), stoppedBy: budget.stoppedBy, version: budget.version },
    ...{ createdAt: instant(budget.createdAt), updatedAt: instant(budget.updatedAt) },
  }
}

export async function requireBudget(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  id: string,
): Promise<NamedBudget> {
  const [budget] = await listBudgets(kernel.store.readers, workspaceId, { id }, 1)
  if (!budget) throw new Refused('NOT_FOUND', `There is no budget ${id} in this workspace.`)
  return budget
}

export const operateBudget = async (
  kernel: ServerKernel,
  caller: Caller,
  id: string,
  command: BudgetCommand,
) => granted(await kernel.run(caller, { on: 'budget', key: id, uuid: id, command })).record

/** A part of one goes to another. Those of missions and tasks are changed with the mission or the task. */
export async function moveBetween(
  kernel: ServerKernel,
  caller: Caller,
  { from, to, usd, tokens }: z.output<typeof BudgetMove> & { from: string },
): Promise<void> {
  if (usd === undefined && tokens === undefined)
    throw Refused.field('VALIDATION_FAILED', 'usd', 'or tokens is needed')
  const budgets = [await requireBudget(kernel, caller, from), await requireBudget(kernel, caller, to)]
  if (budgets.some(isOfWork))
    throw Refused.field('VALIDATION_FAILED', 'to', 'is of a mission or a task: those are changed with it')
  await operateBudget(kernel, caller, from, { kind: 'move', to, usd: usd ?? null, tokens: tokens ?? null })
}

export const isOfWork = ({ scope }: Pick<NamedBudget, 'scope'>) => scope === 'mission' || scope === 'task'

/** How many tasks one request cancels. */
const MOST_CANCELLED = 1_000

/** Tasks that it has stopped, and that nobody wants to continue. */
export async function cancelStopped(
  kernel: ServerKernel,
  caller: Caller,
  budgetId: string,
  reason: string | null,
): Promise<void> {
  const each = { ...caller, idempotency: undefined }
  const tasks = await tasksStoppedBy(kernel.store.readers, caller.workspaceId, budgetId, MOST_CANCELLED)
  for (const { uuid, generation } of tasks)
    await command(kernel, each, uuid, {
      kind: 'cancel',
      reason,
      generation,
      whileIn: 'budget_exceeded',
    }).catch(unlessChanged)
}

/** Somebody else has decided about it meanwhile. */
function unlessChanged(error: unknown): void {
  if (!(error instanceof Refused)) throw error
}
