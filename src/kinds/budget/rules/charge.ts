import { lessDollars, picosOf, sumOfDollars, textOfPicos } from '../../../pure/money.ts'
import { type EventWithOrigin, missionEvent, workspaceEvent } from '../../events.ts'
import type { Reservation } from '../../usage/record.ts'
import { type Booked, unknownModels } from '../../usage/rules/book.ts'
import type { BudgetRecord } from '../record.ts'
import { inboxChanges } from './inbox.ts'
import { turned } from './period.ts'
import { type Amount, cutTo, isSpent, NOTHING, percentUsed, unreserved, whyBlocked } from './room.ts'

/** What was reported is booked in full in all budgets that cover it, whatever they say. Only what is consumed stops. */

const WARN_AT_PERCENT = 90

/** What a person is told of a budget, in events. */
export const factsOf = (budget: BudgetRecord) => ({
  budgetId: budget.budgetId,
  scope: budget.scope,
  scopeId: budget.scopeId,
  period: budget.period,
  percentUsed: percentUsed(budget),
  ...{ consumedUsd: budget.consumedUsd, maxUsd: budget.maxUsd },
  ...{ consumedTokens: budget.consumedTokens, maxTokens: budget.maxTokens },
})

/**
 * A model without a price under a budget in dollars: unless that is allowed, it stops. Programs that Baton runs may say at their end what
 * they cost: of a run it is known then. Simulated agents always do.
 */
function withUnknownModels(budget: BudgetRecord, { source }: Booked, isFinal: boolean): BudgetRecord {
  const { maxUsd, onUnknownPrice, unknownModel, allowedModels } = budget
  if (source.isSimulated || (source.generation === 0 && !isFinal)) return budget
  if (maxUsd === null || onUnknownPrice === 'allow' || unknownModel !== null) return budget
  const unknown = unknownModels(source).find((model) => !allowedModels.includes(model))
  return unknown === undefined ? budget : { ...budget, unknownModel: unknown }
}

export interface Charged {
  budget: BudgetRecord
  events: EventWithOrigin[]
}

interface Clock {
  timeZone: string
  now: number
}

/** `released`: how much less is reserved in it. */
function charge(
  before: BudgetRecord,
  booked: Booked,
  released: Amount,
  { timeZone, now, isFinal }: Clock & { isFinal: boolean },
): Charged {
  const current = turned(before, timeZone, now)
  const usd = current.countNotional ? sumOfDollars(booked.usd, booked.notionalUsd) : booked.usd
  const added = {
    ...current,
    consumedUsd: atLeastZero(sumOfDollars(current.consumedUsd, usd)),
    consumedTokens: Math.max(0, current.consumedTokens + booked.tokens),
    ...lessReserved(current, released),
    updatedAt: now,
  }
  const told = crossed(withUnknownModels(added, booked, isFinal), current, now)
  const because = told.events.at(-1)?.type ?? 'budget_renewed'
  return {
    ...told,
    events: [
      ...(current === before ? [] : [renewed(current, now)]),
      ...inboxChanges(before, told.budget, because, { actor: 'system', now }),
      ...told.events,
    ],
  }
}

const atLeastZero = (usd: string) => (picosOf(usd) < 0n ? '0' : usd)

export const lessReserved = (
  { reservedUsd, reservedTokens }: Pick<BudgetRecord, 'reservedUsd' | 'reservedTokens'>,
  { tokens, usd }: Amount,
) => ({
  reservedUsd: atLeastZero(lessDollars(reservedUsd, usd)),
  reservedTokens: Math.max(0, reservedTokens - tokens),
})

/** The budget with what it told people, and the events that tell them: each once a period, unless it is raised in between. */
export function crossed(after: BudgetRecord, before: BudgetRecord, now: number): Charged {
  const events: EventWithOrigin[] = []
  const by = { actor: 'system', now }
  let budget = after
  if (budget.warnedAt === null && percentUsed(budget) >= WARN_AT_PERCENT) {
    budget = { ...budget, warnedAt: now }
    events.push(warning(budget, by))
  }
  if (budget.exceededAt === null && isSpent(budget)) {
    budget = { ...budget, exceededAt: now }
    // The gate of a mission tells it.
    if (budget.scope !== 'mission')
      events.push(workspaceEvent('budget_exceeded', { ...factsOf(budget), reason: 'spent', model: null }, by))
  }
  const model = budget.unknownModel
  if (model !== null && before.unknownModel === null)
    events.push(workspaceEvent('budget_exceeded', { ...factsOf(budget), reason: 'unknown_price', model }, by))
  return { budget, events }
}

/** Its period is another one: what waited for that may go on. */
export const renewed = (budget: BudgetRecord, now: number): EventWithOrigin =>
  workspaceEvent('budget_renewed', factsOf(budget), { actor: 'system', now })

/** That of a mission is in its own log. */
function warning(budget: BudgetRecord, by: { actor: string; now: number }): EventWithOrigin {
  if (budget.scope !== 'mission') return workspaceEvent('budget_warning', factsOf(budget), by)
  const { budgetId, scopeId, scopeKey, consumedUsd, consumedTokens, maxUsd, maxTokens } = budget
  const payload = {
    budgetId,
    consumedUsd,
    consumedTokens,
    maxUsd,
    maxTokens,
    percentUsed: percentUsed(budget),
  }
  const mission = { id: Number(scopeKey.slice('mission:'.length)), uuid: scopeId! }
  return missionEvent('mission_budget_warning', mission, payload, by)
}

interface Charging extends Clock {
  /** What the claim or run that was working has reserved. */
  reservation: Reservation | null
  /** Its last report: it needs no more. */
  isFinal: boolean
}

export interface ChargedAll {
  budgets: BudgetRecord[]
  reservation: Reservation | null
  events: EventWithOrigin[]
}

/**
 * Books in all budgets. What was used is no longer reserved; who has used up a reservation takes as much again, as far as all of its
 * budgets have it.
 */
export function chargeAll(
  budgets: readonly BudgetRecord[],
  booked: Booked,
  { reservation, isFinal, ...clock }: Charging,
): ChargedAll {
  const used = reservation && usedOf(reservation, booked)
  const isReserving = ({ budgetId }: BudgetRecord) => reservation?.budgetIds.includes(budgetId) === true
  const charged = budgets.map((one) =>
    charge(one, booked, used && isReserving(one) ? used : NOTHING, { ...clock, isFinal }),
  )
  const events = charged.flatMap((one) => one.events)
  const after = charged.map(({ budget }) => budget)
  if (!reservation || !used) return { budgets: after, reservation: null, events }
  const rest = {
    ...reservation,
    tokens: reservation.tokens - used.tokens,
    usd: lessDollars(reservation.usd, used.usd),
  }
  const more = isFinal ? NOTHING : topUp(rest, after.filter(isReserving))
  const taken = { tokens: -more.tokens, usd: textOfPicos(-picosOf(more.usd)) }
  return {
    budgets: after.map((one) => (isReserving(one) ? { ...one, ...lessReserved(one, taken) } : one)),
    reservation: { ...rest, tokens: rest.tokens + more.tokens, usd: sumOfDollars(rest.usd, more.usd) },
    events,
  }
}

/** Of what is reserved, what was used. */
function usedOf({ tokens, usd }: Reservation, booked: Booked): Amount {
  const [held, used] = [picosOf(usd), picosOf(atLeastZero(booked.usd))]
  return {
    tokens: Math.min(tokens, Math.max(0, booked.tokens)),
    usd: textOfPicos(used < held ? used : held),
  }
}

function topUp({ tokens, usd, stepTokens, stepUsd }: Reservation, budgets: readonly BudgetRecord[]): Amount {
  if (budgets.some((budget) => whyBlocked(budget) !== null)) return NOTHING
  const wants = { tokens: tokens === 0 ? stepTokens : 0, usd: picosOf(usd) === 0n ? stepUsd : '0' }
  return cutTo(wants, budgets.map(unreserved))
}
