import { lessDollars } from '../../../pure/money.ts'
import type { BudgetRecord } from '../../budget/record.ts'
import { chargeAll, lessReserved } from '../../budget/rules/charge.ts'
import { guessFor } from '../../budget/rules/claims.ts'
import { turned } from '../../budget/rules/period.ts'
import { type Blocked, cutTo, unreserved, whyBlocked } from '../../budget/rules/room.ts'
import type { EventWithOrigin } from '../../events.ts'
import type { BookedTo, Reservation, SourceId, UsageRow, UsageSource } from '../record.ts'
import { type Booked, book, newSource, nothingMore, type UsageReport, unknownModels } from './book.ts'

/** What a step on runs asks for, sees and writes of the ledger. */

/** A source, and under which claim it works; of a run without a task its own reservation is meant. */
export interface UsageAsk extends SourceId {
  /** The claim of its task; null: it has none. */
  claim: { taskId: number; taskUuid: string; generation: number } | null
  /** For a source that is new: whose it is. */
  agent: string
  session: string | null
}

/** Under the locks of the source, of its reservation, and of the budgets that cover it, in this order. */
export interface SeenUsage {
  source: UsageSource | null
  to: BookedTo
  budgets: readonly BudgetRecord[]
  reservation: Reservation | null
  /** What all other runs and claims of its task have used. */
  others: UsedByOthers
  timeZone: string
}

interface UsedByOthers {
  tokens: number
  /** Null: nothing of it is known. */
  costUsd: string | null
}

export interface UsageChanges {
  sources: readonly UsageSource[]
  rows: readonly UsageRow[]
  budgets: readonly BudgetRecord[]
  reservations: readonly Reservation[]
  /** Holders whose reservations are gone. */
  released: readonly SourceId[]
}

export const NO_USAGE: UsageChanges = { sources: [], rows: [], budgets: [], reservations: [], released: [] }

export interface Recorded {
  booked: Booked | null
  changes: UsageChanges
  events: EventWithOrigin[]
  /** Why what works here must stop: the budget, and what it says. */
  stop: { budget: BudgetRecord; why: Blocked } | null
}

/** Books a report in the ledger and in all budgets. */
export function record(seen: SeenUsage, id: SourceId, report: UsageReport, now: number): Recorded {
  const source = seen.source ?? newSource(id, seen.to, now)
  const isUnknown = report.isFinal === true && unknownModels(source).length > 0
  const booked = book(source, report, now) ?? (isUnknown ? nothingMore(source) : null)
  if (!booked)
    return { booked: null, changes: NO_USAGE, events: [], stop: stopIn(seen.budgets, seen.timeZone, now) }
  const charged = chargeAll(seen.budgets, booked, {
    ...{ reservation: seen.reservation, isFinal: report.isFinal === true },
    ...{ timeZone: seen.timeZone, now },
  })
  return {
    booked,
    changes: {
      ...NO_USAGE,
      sources: [booked.source],
      rows: booked.rows,
      budgets: charged.budgets,
      reservations: charged.reservation ? [charged.reservation] : [],
    },
    events: charged.events,
    stop: stopIn(charged.budgets, seen.timeZone, now),
  }
}

function stopIn(budgets: readonly BudgetRecord[], timeZone: string, now: number): Recorded['stop'] {
  for (const one of budgets) {
    const budget = turned(one, timeZone, now)
    const why = whyBlocked(budget)
    if (why) return { budget, why }
  }
  return null
}

/** A run without a task reserves what a task would. Where others have reserved the rest, it begins with less: only what is consumed stops. */
export function reserveForRun(
  { budgets, timeZone }: SeenUsage,
  { sourceId, generation }: SourceId,
  model: string | null,
  now: number,
): UsageChanges {
  if (budgets.length === 0) return NO_USAGE
  const current = budgets.map((one) => turned(one, timeZone, now))
  const wanted = guessFor(model)
  const { tokens, usd } = cutTo(wanted, current.map(unreserved))
  const taken = { tokens: -tokens, usd: lessDollars('0', usd) }
  return {
    ...NO_USAGE,
    budgets: current.map((one) => ({ ...one, ...lessReserved(one, taken) })),
    reservations: [
      {
        ...{ holderId: sourceId, generation, budgetIds: budgets.map(({ budgetId }) => budgetId) },
        ...{ tokens, usd, stepTokens: wanted.tokens, stepUsd: wanted.usd, reservedAt: now },
      },
    ],
  }
}
