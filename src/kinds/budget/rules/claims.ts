import { picosOf, textOfPicos } from '../../../pure/money.ts'
import { estimatedTokensOf } from '../../mission/plan/estimate.ts'
import { picosFor, priceOf } from '../../run/prices/cost.ts'
import type { TaskRecord } from '../../task/record.ts'
import { type BudgetRecord, scopeKeysOf } from '../record.ts'
import { pacedUntil } from './pace.ts'
import { type Amount, percentUsed, unconsumed, whyBlocked } from './room.ts'
import { type CountedBudget, counted, type Expected, type Room, roomIn } from './room-for-claim.ts'

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
export function expectedOf(
  seen: SeenBudgets,
  task: ReturnType<SeenBudgets['tasks']['get']>,
  agent: string,
): Expected {
  const typical = seen.typical.get(typicalName(agent, task?.taskType ?? ''))
  const model = seen.agents.get(agent)?.model ?? null
  const isEstimate = task !== undefined && (task.estimatedTokens !== null || task.complexity !== null)
  if (!isEstimate && typical) return { ...counted(typical), isEstimate: false }
  const tokens = estimatedTokensOf(task ?? {})
  const usd = typical ? scaled(typical.usd, tokens, typical.tokens) : usdOf(tokens, model)
  return { ...counted({ tokens, usd }), isEstimate }
}

/** Of what nothing is known yet. */
export function guessFor(model: string | null): Amount {
  const tokens = estimatedTokensOf({})
  return { tokens, usd: usdOf(tokens, model) }
}

type Claimed = Pick<TaskRecord, 'id' | 'missionId' | 'projectId' | 'purpose'>

/** By what they are about. */
export function budgetsByScope({ budgets }: SeenBudgets): ReadonlyMap<string, readonly BudgetRecord[]> {
  const byScope = new Map<string, BudgetRecord[]>()
  for (const budget of budgets) {
    const others = byScope.get(budget.scopeKey)
    if (others) others.push(budget)
    else byScope.set(budget.scopeKey, [budget])
  }
  return byScope
}

/** The budgets that a claim of this task by this agent counts in, as they were seen. */
export function covering(
  { agents }: SeenBudgets,
  byScope: ReadonlyMap<string, readonly BudgetRecord[]>,
  { id, missionId, projectId, purpose }: Claimed,
  agent: string,
): BudgetRecord[] {
  const isSimulated = agents.get(agent)?.isSimulated === true
  const found: BudgetRecord[] = []
  for (const key of scopeKeysOf({ agent, taskId: id, missionId, projectId }))
    for (const budget of byScope.get(key) ?? []) {
      const { scope } = budget
      // The report of a mission says what became of it, also where all of its budget is spent.
      if (purpose === 'report' && scope === 'mission') continue
      if (!isSimulated || scope === 'mission' || scope === 'task') found.push(budget)
    }
  return found
}

export function roomForClaim(budgets: readonly CountedBudget[], expected: Expected, now: number): Room {
  const room = roomIn(budgets, expected)
  if (room.kind !== 'reserve') return room
  for (const { budget } of budgets) {
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
