import type { Budget } from '../../../pure/budget.ts'
import { type Refusal, refuseField } from '../../../pure/errors.ts'
import { picosOf, sumOfDollars, textOfPicos } from '../../../pure/money.ts'
import type { Along } from '../../kind.ts'
import type { BudgetChange } from '../../run/rules/budget.ts'
import type { OnTask } from '../../task/command.ts'
import { type BudgetRecord, isOfWork } from '../record.ts'

/** A part of a budget goes to another one. */

export interface Move {
  to: string
  usd: string | null
  tokens: number | null
  /** The missions and tasks whose budgets these are: they change with them. */
  work?: readonly WorkOfBudget[] | undefined
}

export type WorkOfBudget = { budgetId: string } & (
  | { mission: { id: number; uuid: string } }
  /** Its plan, what it has spent and its version are as the caller has read them. */
  | { task: { id: number; uuid: string; missionId: number | null } & Omit<BudgetChange, 'budget'> }
)

const refused = (field: string, message: string) => refuseField('VALIDATION_FAILED', field, message)

/** Null: it may be moved. */
export function whyNotMoved(
  from: BudgetRecord,
  to: BudgetRecord | undefined,
  { usd, tokens }: Pick<Move, 'usd' | 'tokens'>,
): Refusal | null {
  if (!to) return refused('to', 'is not another budget of this workspace')
  const whyNot =
    (usd === null ? null : whyNotUsd(from, to, usd)) ??
    (tokens === null ? null : whyNotTokens(from, to, tokens))
  return whyNot && refused(usd !== null && whyNot.of === 'usd' ? 'usd' : 'tokens', whyNot.message)
}

const MORE_THAN_LEFT = 'is more than is neither used nor reserved'
/** What is spent would stop: a mission and a task have such a limit only by what they use. */
const LEAVES_NOTHING = 'must leave a mission or a task more than it has used'

function whyNotUsd(from: BudgetRecord, to: BudgetRecord, usd: string) {
  const no = (message: string) => ({ of: 'usd', message })
  if (from.maxUsd === null || to.maxUsd === null) return no('can only be moved between budgets in dollars')
  const after = picosOf(from.maxUsd) - picosOf(usd)
  if (after < picosOf(from.consumedUsd) + picosOf(from.reservedUsd)) return no(MORE_THAN_LEFT)
  return isOfWork(from) && after <= picosOf(from.consumedUsd) ? no(LEAVES_NOTHING) : null
}

function whyNotTokens(from: BudgetRecord, to: BudgetRecord, tokens: number) {
  const no = (message: string) => ({ of: 'tokens', message })
  if (from.maxTokens === null || to.maxTokens === null)
    return no('can only be moved between budgets in tokens')
  const after = from.maxTokens - tokens
  if (after < from.consumedTokens + from.reservedTokens) return no(MORE_THAN_LEFT)
  if (after < 1) return no('must leave the budget at least one token')
  return isOfWork(from) && after <= from.consumedTokens ? no(LEAVES_NOTHING) : null
}

const lessUsd = (from: string, part: string) => textOfPicos(picosOf(from) - picosOf(part))

/** The limits of both after it. */
export function moved(from: BudgetRecord, to: BudgetRecord, { usd, tokens }: Pick<Move, 'usd' | 'tokens'>) {
  return {
    less: {
      ...(usd !== null && { maxUsd: lessUsd(from.maxUsd!, usd) }),
      ...(tokens !== null && { maxTokens: from.maxTokens! - tokens }),
    },
    more: {
      ...(usd !== null && { maxUsd: sumOfDollars(to.maxUsd, usd) }),
      ...(tokens !== null && { maxTokens: to.maxTokens! + tokens }),
    },
  }
}

const asSaid = ({ maxUsd, maxTokens }: BudgetRecord): Budget => ({
  ...(maxUsd !== null && { maxUsd }),
  ...(maxTokens !== null && { maxTokens }),
})

/** The limits of missions and tasks are said there: they get those that their budgets have now. */
export function alongWith(budgets: readonly BudgetRecord[], { work = [] }: Move): Along {
  const along = budgets.flatMap((budget) => {
    const found = work.find(({ budgetId }) => budgetId === budget.budgetId)
    return found ? [{ found, budget: asSaid(budget) }] : []
  })
  return {
    missions: along.flatMap(({ found, budget }) =>
      'mission' in found
        ? { uuid: found.mission.uuid, command: { kind: 'update', ifVersion: null, patch: { budget } } }
        : [],
    ),
    tasks: along.flatMap(({ found, budget }) => ('task' in found ? withBudget(found.task, budget) : [])),
  }
}

function withBudget(
  { id, uuid, plan, spent, version }: Extract<WorkOfBudget, { task: unknown }>['task'],
  budget: Budget | null,
): OnTask {
  const change: BudgetChange = { budget, plan: { ...(plan as object), budget }, spent, version }
  return {
    ...{ taskId: id, uuid },
    command: { kind: 'update', ifVersion: null, patch: { budget: change }, before: undefined },
  }
}

/** What is locked for it. */
export const tasksOf = ({ work = [] }: Move): OnTask[] =>
  work.flatMap((one) => ('task' in one ? withBudget(one.task, null) : []))

export const missionsOf = ({ work = [] }: Move): number[] =>
  work.flatMap((one) => ('task' in one ? (one.task.missionId ?? []) : one.mission.id))
