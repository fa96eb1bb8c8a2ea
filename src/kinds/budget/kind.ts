import type { Kind } from '../kind.ts'
import type { KindGranted } from '../replies.ts'
import type { BudgetRecord } from './record.ts'
import { missionsOf, tasksOf } from './rules/move.ts'
import { type BudgetCommand, type Counted, decideBudget } from './rules.ts'

export interface BudgetTypes {
  record: BudgetRecord
  command: BudgetCommand
  granted: KindGranted & { readonly record: BudgetRecord }
  /** What the ledger has in its period; only where that is to be compared. */
  extra: { readonly counted?: Counted | null | undefined }
}

declare module '../kind.ts' {
  interface KindTypes {
    budget: BudgetTypes
  }
}

/** Budgets. The id of one follows from its scope and its period, so that there is one of each. */
export const budgetKind: Kind<BudgetTypes> = {
  keyOf: ({ budgetId }) => budgetId,
  holderOf: () => null,
  mayHoldBeforeItExists: false,
  counts: () => false,
  keysIn: (command) => (command.kind === 'move' ? [command.to] : []),
  // With their counters: what is booked locks those before budgets, too.
  missionsIn: (command) => (command.kind === 'move' ? missionsOf(command) : []),
  tasksIn: (command) => (command.kind === 'move' ? { tasks: [], changes: tasksOf(command) } : null),
  decide(before, { key }, command, { now, limits, origin, seen, all }) {
    const { others, ...decision } = decideBudget(before, key, command, {
      ...{ now, timeZone: limits.timeZone, origin, counted: seen?.counted ?? null },
      other: (budgetId) => all().find((one) => one.budgetId === budgetId),
    })
    return { ...decision, others: { written: others, removed: [] }, settle: () => null }
  },
  granted: ({ record, before }) => ({
    ...{ ok: true, reason: 'DONE', record: (record ?? before)!, isNew: before === null },
  }),
}
