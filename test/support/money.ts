import { randomUUID } from 'node:crypto'
import { decideAll } from '../../src/kernel/batch/decide-all.ts'
import { readSetOf } from '../../src/kernel/batch/requests.ts'
import { budgetIdOf } from '../../src/kernel/budget-id.ts'
import type { RunStore } from '../../src/kernel/store/run-store.ts'
import type { BudgetRecord, Period, Scope } from '../../src/kinds/budget/record.ts'
import type { BudgetCommand, BudgetSettings } from '../../src/kinds/budget/rules.ts'
import { NOTHING_ASKED, NOTHING_CHANGED } from '../../src/kinds/run/rules/step.ts'
import { NOTHING_SAID } from '../../src/kinds/task/rules/plan-fields.ts'
import type { ModelTotals } from '../../src/kinds/usage/record.ts'
import { type ClaimReport, reportClaim } from '../../src/kinds/usage/rules/claim-report.ts'
import type { SeenUsage } from '../../src/kinds/usage/rules/step.ts'
import type { Budget } from '../../src/pure/budget.ts'
import type { Reply } from './replies.ts'
import { type Hold, newTask, type Overrides, type Task, type Work } from './tasks.ts'

/** Budgets and the ledger of a workspace, through its store. */

const SETTINGS: BudgetSettings = {
  ...{ maxUsd: null, maxTokens: null, countNotional: false, onUnknownPrice: 'ask', isPaced: false },
}

export interface BudgetOf extends Partial<BudgetSettings> {
  scope?: Scope
  /** Inside: `agent:alpha`. */
  scopeKey?: string
  scopeId?: string | null
  period?: Period
}

export const commandBudget = (work: Work, id: string, command: BudgetCommand, actor = 'key:test') =>
  work.run({ on: 'budget', actor, key: id, uuid: id, command })

/** Sets a budget, by default of the workspace, and returns its id. What was used already is counted. */
export async function setBudget(work: Work, { scope = 'workspace', ...of }: BudgetOf): Promise<string> {
  const { scopeKey = 'workspace', scopeId = null, period = 'none', ...settings } = of
  const id = budgetIdOf(scopeKey, period)
  const about = { scope, scopeKey, scopeId, period }
  must(await commandBudget(work, id, { kind: 'create', ...about, ...SETTINGS, ...settings }))
  must(await elapseBudget(work, id))
  return id
}

export const elapseBudget = (work: Work, id: string) => commandBudget(work, id, { kind: 'elapse' }, 'system')
export const updateBudget = (work: Work, id: string, set: Partial<BudgetSettings>) =>
  commandBudget(work, id, { kind: 'update', ifVersion: null, set })

export function must(reply: Reply): Reply {
  if (!reply.ok) throw new Error(`refused: ${reply.code} ${reply.detail}`)
  return reply
}

/** As it is stored. */
export async function budgetOf(work: Work, id: string): Promise<BudgetRecord> {
  const command = { kind: 'elapse' } as const
  const reads = readSetOf([{ on: 'budget', actor: 'system', key: id, uuid: id, command }])
  const found = await (work.store as RunStore).transact(work.workspace, {
    on: 'batch',
    reads,
    decide: (view) => ({
      answer: view.kinds.budget.seen.get(id)?.record,
      changes: decideAll(view, []).changes,
    }),
  })
  if (!found) throw new Error(`there is no budget ${id}`)
  return found
}

/** A new task that is estimated to use so much, or has a budget of its own. */
export function costing(
  estimatedTokens: number | null,
  { budget = null, ...overrides }: Overrides & { budget?: Budget | null } = {},
) {
  const task = newTask(overrides)
  return { ...task, details: { ...task.details, plan: { ...NOTHING_SAID, estimatedTokens, budget } } }
}

/** The source of a claim, its reservation, and the budgets that cover it. */
export function usageOf(work: Work, task: Task, generation: number, agent = 'alpha'): Promise<SeenUsage> {
  const claim = { taskId: task.id, taskUuid: task.uuid, generation }
  // A source of another name: a claim that has reported nothing gets none by being looked at.
  const usage = { sourceId: randomUUID(), generation: 0, agent, session: null, claim }
  return (work.store as RunStore).transact(work.workspace, {
    on: 'runs',
    reads: { ...NOTHING_ASKED, usage },
    decide: (view) => ({ answer: view.usage!, changes: NOTHING_CHANGED }),
  })
}

/** What the holder of a claim reports, whose agent Baton does not run; or has reported so long ago. */
export function reportOf(
  work: Work,
  task: Task,
  { agent, session, generation }: Hold,
  models: Readonly<Record<string, ModelTotals>>,
  { agoMs = 0, ...more }: Partial<ClaimReport> & { agoMs?: number } = {},
) {
  const step = reportClaim({
    ...{ taskId: task.id, taskUuid: task.uuid, agent, session, generation, number: null, models },
    endedAt: null,
    ...more,
  })
  const then: typeof step = { ...step, decide: (view) => step.decide({ ...view, now: view.now - agoMs }) }
  return (work.store as RunStore).transact(work.workspace, then)
}
