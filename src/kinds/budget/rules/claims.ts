import { picosOf, textOfPicos } from '../../../pure/money.ts'
import { estimatedTokensOf } from '../../mission/plan/estimate.ts'
import { picosFor, priceOf } from '../../run/prices/cost.ts'
import type { TaskRecord } from '../../task/record.ts'
import { type BudgetRecord, scopeKeysOf } from '../record.ts'
import { pacedUntil } from './pace.ts'
import { turned } from './period.ts'
import { type Amount, type Expected, percentUsed, type Room, roomIn, unconsumed, whyBlocked } from './room.ts'

/** What claims see of budgets. They are read without a lock; what is reserved is checked again when it is written. */
export interface SeenBudgets {
  budgets: readonly BudgetRecord[]
  timeZone: string
  /** Of the tasks that may be claimed: their types, and what somebody estimated. */
  tasks: ReadonlyMap<number, { taskType: string; estimatedTokens: number | null; complexity: number | null }>
  /** What runs of an agent at tasks of a type usually use, by `typicalName`. */
  typical: ReadonlyMap<string, Amount>
  agents: ReadonlyMap<string, { model: string | null; isSimulated: boolean }>
}

export const typicalName = (agent: string, taskType: string) => `${agent} ${taskType}`

/** One token in five is written by the model, as in estimates of plans. */
const OUTPUT_SHARE = 5

/** At list prices; nothing for a model without one: then its dollars are booked when they are known. */
function usdOf(tokens: number, model: string | null): string {
  const price = model === null ? null : priceOf(model)
  if (!price) return '0'
  const output = Math.ceil(tokens / OUTPUT_SHARE)
  return textOfPicos(picosFor(price, { input: tokens - output, output }))
}

const scaled = (usd: string, tokens: number, of: number) =>
  of === 0 ? usd : textOfPicos((picosOf(usd) * BigInt(tokens)) / BigInt(of))

/** An estimate that somebody made, else what is usual, else what a task of middle complexity is taken to use. */
function expectedOf(seen: SeenBudgets, { id }: Pick<TaskRecord, 'id'>, agent: string): Expected {
  const task = seen.tasks.get(id)
  const typical = seen.typical.get(typicalName(agent, task?.taskType ?? ''))
  const model = seen.agents.get(agent)?.model ?? null
  const isEstimate = task !== undefined && (task.estimatedTokens !== null || task.complexity !== null)
  if (!isEstimate && typical) return { ...typical, isEstimate: false }
  const tokens = estimatedTokensOf(task ?? {})
  const usd = typical ? scaled(typical.usd, tokens, typical.tokens) : usdOf(tokens, model)
  return { tokens, usd, isEstimate }
}

/** Of what nothing is known yet. */
export function guessFor(model: string | null): Amount {
  const tokens = estimatedTokensOf({})
  return { tokens, usd: usdOf(tokens, model) }
}

type Claimed = Pick<TaskRecord, 'id' | 'missionId' | 'projectId' | 'purpose'>

/** The budgets that a claim of this task by this agent counts in. */
export function covering(
  seen: SeenBudgets,
  { id, missionId, projectId, purpose }: Claimed,
  agent: string,
  now: number,
) {
  const keys = scopeKeysOf({ agent, taskId: id, missionId, projectId })
  const isSimulated = seen.agents.get(agent)?.isSimulated === true
  return (
    seen.budgets
      // The report of a mission says what became of it, also where all of its budget is spent.
      .filter(({ scope }) => purpose !== 'report' || scope !== 'mission')
      .filter(({ scopeKey }) => keys.includes(scopeKey))
      .filter(({ scope }) => !isSimulated || scope === 'mission' || scope === 'task')
      .map((budget) => turned(budget, seen.timeZone, now))
  )
}

export function roomForClaim(
  budgets: readonly BudgetRecord[],
  seen: SeenBudgets,
  task: Claimed,
  agent: string,
  now: number,
): Room {
  const room = roomIn(budgets, expectedOf(seen, task, agent))
  if (room.kind !== 'reserve') return room
  for (const budget of budgets) {
    const until = pacedUntil(budget, now)
    if (until !== null) return { kind: 'paced', budget, until }
  }
  return room
}

/** What is left for a holder, by the budget that has least. */
export type BudgetLeft = {
  scope: BudgetRecord['scope']
  scopeId: string | null
  percentUsed: number
  remainingUsd: string | null
  remainingTokens: number | null
  /** When nine tenths of it were used; null: they are not. */
  warnedAt: string | null
  /** Nothing is left: what is under way must stop. */
  isSpent: boolean
}

export function leastLeft(budgets: readonly BudgetRecord[]): BudgetLeft | null {
  const limited = budgets.filter(
    (budget) => budget.maxUsd !== null || budget.maxTokens !== null || whyBlocked(budget) !== null,
  )
  const rank = (budget: BudgetRecord) => (whyBlocked(budget) ? Number.POSITIVE_INFINITY : percentUsed(budget))
  const [least] = [...limited].sort((a, b) => rank(b) - rank(a))
  if (!least) return null
  const { tokens, usd } = unconsumed(least)
  return {
    ...{ scope: least.scope, scopeId: least.scopeId, percentUsed: percentUsed(least) },
    ...{ remainingUsd: usd, remainingTokens: tokens, isSpent: whyBlocked(least) !== null },
    warnedAt: least.warnedAt === null ? null : new Date(least.warnedAt).toISOString(),
  }
}

/** What the rules of tasks see of budgets. Missing: the workspace has none. */
export interface SeenOfBudgets {
  /** What a claim of the task by this agent may reserve; null: no budget covers it. */
  roomFor?: ((record: TaskRecord, agent: string) => Room | null) | undefined
  /** What is left for the holder of a task. */
  budgetLeft?: ((record: TaskRecord) => BudgetLeft | null) | undefined
}
