import { budgetIdOf } from '../../src/kernel/budget-id.ts'
import type { BudgetRecord, Period } from '../../src/kinds/budget/record.ts'
import { periodAt } from '../../src/kinds/budget/rules/period.ts'
import {
  type BudgetCommand,
  type BudgetContext,
  type Counted,
  decideBudget,
} from '../../src/kinds/budget/rules.ts'
import type { Reservation } from '../../src/kinds/usage/record.ts'

/** Budgets, for tests of their rules. */

export const ZONE = 'Europe/Berlin'
export const at = (instant: string) => Date.parse(instant)
export const NOON = at('2026-05-13T12:00:00Z')

export const aBudget = (more: Partial<BudgetRecord> = {}): BudgetRecord => ({
  ...{ budgetId: budgetIdOf('workspace', 'none'), scope: 'workspace', scopeKey: 'workspace', scopeId: null },
  ...{ period: 'none', periodStart: 0, periodEnd: null, maxUsd: null, maxTokens: null },
  ...{ countNotional: false, onUnknownPrice: 'ask', allowedModels: [], unknownModel: null },
  ...{ consumedUsd: '0', consumedTokens: 0, reservedUsd: '0', reservedTokens: 0, isPaced: false },
  ...{ warnedAt: null, exceededAt: null, stoppedAt: null, stoppedBy: null, countDueAt: null },
  ...{ version: 1, createdBy: 'key:test', createdAt: 0, updatedAt: 0 },
  ...more,
})

/** A budget in the period that this moment belongs to. */
export function inPeriod(period: Period, now: number, more: Partial<BudgetRecord> = {}): BudgetRecord {
  const { start, end } = periodAt(period, ZONE, now)
  return aBudget({
    ...{ budgetId: budgetIdOf('workspace', period), period, periodStart: start, periodEnd: end },
    ...more,
  })
}

export const aReservation = (budgets: readonly BudgetRecord[], more: Partial<Reservation> = {}) => ({
  ...{ holderId: '00000000-0000-7000-8000-000000000001', generation: 1 },
  ...{ budgetIds: budgets.map(({ budgetId }) => budgetId), tokens: 0, usd: '0' },
  ...{ stepTokens: more.tokens ?? 0, stepUsd: more.usd ?? '0', reservedAt: 0, ...more },
})

export const counted = (budget: BudgetRecord, more: Partial<Counted> = {}): Counted => ({
  periodStart: budget.periodStart,
  ...{ usd: '0', notionalUsd: '0', tokens: 0 },
  ...{ reservedUsd: budget.reservedUsd, reservedTokens: budget.reservedTokens },
  ...more,
})

export const decided = (
  before: BudgetRecord | null,
  command: BudgetCommand,
  more: Partial<BudgetContext> = {},
) =>
  decideBudget(before, before?.budgetId ?? budgetIdOf('workspace', 'none'), command, {
    ...{ now: NOON, timeZone: ZONE, origin: { actor: 'key:test' }, counted: null, other: () => undefined },
    ...more,
  })

/** The types of the events that say something of budgets. */
export const budgetEvents = (events: readonly { type: string }[]) =>
  events.map(({ type }) => type).filter((type) => type.startsWith('budget_'))
