import type { z } from 'zod'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import { type Caller, granted } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import { instant } from '../../../pure/instant.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { requireMission } from '../../mission/acts/missions.ts'
import { command, readTask } from '../../task/acts/tasks.ts'
import { NOTHING_SAID } from '../../task/rules/plan-fields.ts'
import { listBudgets, type NamedBudget, tasksStoppedBy } from '../postgres/reads.ts'
import { isOfWork } from '../record.ts'
import type { WorkOfBudget } from '../rules/move.ts'
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

/** A part of one goes to another. Missions and tasks change in the same transaction. */
export async function moveBetween(
  kernel: ServerKernel,
  caller: Caller,
  { from, to, usd, tokens }: z.output<typeof BudgetMove> & { from: string },
): Promise<void> {
  if (usd === undefined && tokens === undefined)
    throw Refused.field('VALIDATION_FAILED', 'usd', 'or tokens is needed')
  const budgets = [await requireBudget(kernel, caller, from), await requireBudget(kernel, caller, to)]
  const amount = { usd: usd ?? null, tokens: tokens ?? null }
  for (let tries = 1; ; tries++) {
    const work = await Promise.all(budgets.filter(isOfWork).map((one) => workOf(kernel, caller, one)))
    try {
      await operateBudget(kernel, caller, from, { kind: 'move', to, ...amount, work })
      return
    } catch (error) {
      if (!(error instanceof Refused) || !error.refusal.shouldRetry || tries === TRIES) throw error
    }
  }
}

/** A task may change between its read and the move. */
const TRIES = 10

/** The mission or the task whose budget it is. */
async function workOf(
  kernel: ServerKernel,
  caller: Caller,
  { budgetId, scope, scopeId }: NamedBudget,
): Promise<WorkOfBudget> {
  if (scope === 'mission') {
    const { id, uuid } = await requireMission(kernel, caller, scopeId!)
    return { budgetId, mission: { id, uuid } }
  }
  const { record, details } = await readTask(kernel, caller, scopeId!)
  const { id, uuid, missionId, version } = record
  const spent = await kernel.store.runs.usageOfTask(caller.workspaceId, id)
  return { budgetId, task: { id, uuid, missionId, version, spent, plan: details.plan ?? NOTHING_SAID } }
}

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
