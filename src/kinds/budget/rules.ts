import { type Refusal, refuse } from '../../pure/errors.ts'
import { picosOf, sumOfDollars } from '../../pure/money.ts'
import { type EventDraft, type Origin, workspaceEvent } from '../events.ts'
import type { Along } from '../kind.ts'
import { type BudgetRecord, isOfWork, type OnUnknownPrice, type Period, type Scope } from './record.ts'
import { crossed, factsOf, renewed } from './rules/charge.ts'
import { inboxChanges } from './rules/inbox.ts'
import { alongWith, type Move, moved, whyNotMoved } from './rules/move.ts'
import { periodAt, turned } from './rules/period.ts'
import { isSpent } from './rules/room.ts'

export interface BudgetSettings {
  maxUsd: string | null
  maxTokens: number | null
  countNotional: boolean
  onUnknownPrice: OnUnknownPrice
  isPaced: boolean
}

/** What the ledger has in a period of a budget, and what is reserved in it. */
export interface Counted {
  periodStart: number
  usd: string
  notionalUsd: string
  tokens: number
  reservedUsd: string
  reservedTokens: number
}

export type BudgetCommand =
  | ({
      kind: 'create'
      scope: Scope
      scopeKey: string
      scopeId: string | null
      period: Period
    } & BudgetSettings)
  | { kind: 'update'; ifVersion: number | null; set: Partial<BudgetSettings> }
  | { kind: 'remove' }
  /** A part of it goes to another one, which gets it in the same transaction. */
  | ({ kind: 'move' } & Move)
  | { kind: 'stop'; reason: string | null }
  | { kind: 'release' }
  /** A model without a price may work under it from now on. */
  | { kind: 'allowModel'; model: string }
  /** Its period is over, or its counters are to be compared with the ledger. */
  | { kind: 'elapse' }

export interface BudgetContext {
  now: number
  timeZone: string
  origin: Origin
  /** Null: it was not counted. */
  counted: Counted | null
  /** Another budget that was named, as this batch has left it. */
  other: (budgetId: string) => BudgetRecord | undefined
}

export interface BudgetDecision {
  refusal: Refusal | null
  record: BudgetRecord | null
  events: EventDraft[]
  others: BudgetRecord[]
  /** What changes with it: limits of missions and tasks are said there. */
  along?: Along | undefined
}

const COUNT_AGAIN_MS = 10_000
const COUNT_EVERY_MS = 3_600_000
/** Looked at so often, a paced budget hands out work again soon after its period has caught up. */
const PACE_EVERY_MS = 60_000
/** Until then a difference is what was booked while it was made. */
const SETTLED_AFTER_MS = 60_000
/** Missions and tasks count all that they ever used. */
const EVER = 0

export function decideBudget(
  before: BudgetRecord | null,
  budgetId: string,
  command: BudgetCommand,
  context: BudgetContext,
): BudgetDecision {
  if (command.kind === 'create') return create(before, budgetId, command, context)
  if (!before) return refused(refuse('NOT_FOUND', `There is no budget ${budgetId} in this workspace.`), null)
  const current = turned(before, context.timeZone, context.now)
  const decision = withInbox(before, ACTS[command.kind](current, command as never, context), context)
  if (current === before || decision.refusal) return decision
  return { ...decision, events: [renewed(current, context.now), ...decision.events] }
}

/** With what waits for people now. What happened stays the last event. */
function withInbox(
  before: BudgetRecord | null,
  decision: BudgetDecision,
  context: BudgetContext,
): BudgetDecision {
  const { record, events, others, refusal } = decision
  if (refusal) return decision
  const because = events.at(-1)?.type ?? 'budget_renewed'
  const by = eventBy(context)
  const items = [
    ...inboxChanges(before, record, because, by),
    ...others.flatMap((one) => inboxChanges(context.other(one.budgetId) ?? null, one, because, by)),
  ]
  return { ...decision, events: [...events.slice(0, -1), ...items, ...events.slice(-1)] }
}

const refused = (refusal: Refusal, record: BudgetRecord | null): BudgetDecision => ({
  ...{ refusal, record, events: [], others: [] },
})

const done = (
  record: BudgetRecord | null,
  events: EventDraft[],
  others: BudgetRecord[] = [],
): BudgetDecision => ({
  ...{ refusal: null, record, events, others },
})

/** Changed by somebody: its version is another one. */
const changed = (budget: BudgetRecord, set: Partial<BudgetRecord>, now: number): BudgetRecord => ({
  ...{ ...budget, ...set },
  version: budget.version + 1,
  updatedAt: now,
})

const eventBy = ({ origin, now }: BudgetContext) => ({ ...origin, now })

function create(
  before: BudgetRecord | null,
  budgetId: string,
  { kind: _kind, scope, scopeKey, scopeId, period, ...settings }: Extract<BudgetCommand, { kind: 'create' }>,
  context: BudgetContext,
): BudgetDecision {
  const { now, timeZone, origin } = context
  if (before)
    return refused(
      refuse('ALREADY_EXISTS', 'This scope has a budget with this period already: change that one.', {
        id: budgetId,
      }),
      before,
    )
  const span = periodAt(period, timeZone, now)
  const record: BudgetRecord = {
    ...{ budgetId, scope, scopeKey, scopeId, period },
    ...{ periodStart: period === 'none' && isOfWork({ scope }) ? EVER : span.start, periodEnd: span.end },
    ...settings,
    ...{ allowedModels: [], unknownModel: null },
    ...{ consumedUsd: '0', consumedTokens: 0, reservedUsd: '0', reservedTokens: 0 },
    ...{ warnedAt: null, exceededAt: null, stoppedAt: null, stoppedBy: null, countDueAt: now },
    ...{ version: 1, createdBy: origin.actor, createdAt: now, updatedAt: now },
  }
  const event = workspaceEvent(
    'budget_changed',
    { ...factsOf(record), change: 'created', by: origin.actor },
    eventBy(context),
  )
  return done(record, [event])
}

type Act<K extends BudgetCommand['kind']> = (
  budget: BudgetRecord,
  command: Extract<BudgetCommand, { kind: K }>,
  context: BudgetContext,
) => BudgetDecision

const isMore = (after: string | null, before: string | null) =>
  before !== null && (after === null || picosOf(after) > picosOf(before))
const isMoreTokens = (after: number | null, before: number | null) =>
  before !== null && (after === null || after > before)

/** After a change of its limits: what it has told people holds only while it is true. */
function withLimits(
  before: BudgetRecord,
  set: Partial<BudgetRecord>,
  context: BudgetContext,
): { record: BudgetRecord; events: EventDraft[] } {
  const { now, origin } = context
  const raised =
    isMore(set.maxUsd === undefined ? before.maxUsd : set.maxUsd, before.maxUsd) ||
    isMoreTokens(set.maxTokens === undefined ? before.maxTokens : set.maxTokens, before.maxTokens)
  const after = changed(before, set, now)
  const open = isSpent(after)
    ? after
    : { ...after, exceededAt: null, warnedAt: raised ? null : after.warnedAt }
  const priced =
    open.maxUsd === null || open.onUnknownPrice === 'allow' ? { ...open, unknownModel: null } : open
  const told = crossed(priced, before, now)
  const facts = factsOf(told.budget)
  const by = eventBy(context)
  const event = raised
    ? workspaceEvent(
        'budget_increased',
        {
          ...facts,
          ...{
            oldUsd: before.maxUsd,
            newUsd: after.maxUsd,
            oldTokens: before.maxTokens,
            newTokens: after.maxTokens,
          },
          by: origin.actor,
        },
        by,
      )
    : workspaceEvent('budget_changed', { ...facts, change: 'changed', by: origin.actor }, by)
  return { record: told.budget, events: [event, ...told.events] }
}

const update: Act<'update'> = (budget, { ifVersion, set }, context) => {
  if (ifVersion !== null && ifVersion !== budget.version)
    return refused(
      refuse('VERSION_MISMATCH', `The budget is at version ${budget.version}.`, {
        currentVersion: budget.version,
      }),
      budget,
    )
  const { record, events } = withLimits(budget, set, context)
  // What it counts is another amount.
  const recount =
    (set.countNotional !== undefined && set.countNotional !== budget.countNotional) || set.isPaced === true
  return done(recount ? { ...record, countDueAt: context.now } : record, events)
}

const remove: Act<'remove'> = (budget, _command, context) => {
  const { origin } = context
  const facts = { ...factsOf(budget), change: 'removed' as const, by: origin.actor }
  return done(null, [workspaceEvent('budget_changed', facts, eventBy(context))])
}

const move: Act<'move'> = (budget, command, context) => {
  const { origin, now } = context
  const { to, usd, tokens } = command
  const target = to === budget.budgetId ? undefined : context.other(to)
  const refusal = whyNotMoved(budget, target, command)
  if (refusal || !target) return refused(refusal!, budget)
  const { less, more } = moved(budget, target, command)
  const from = crossed(changed(budget, less, now), budget, now)
  const given = withLimits(turned(target, context.timeZone, now), more, context)
  // A mission or a task tells itself that it has another limit.
  const told = isOfWork(target) ? given.events.slice(1) : given.events
  const facts = { ...factsOf(from.budget), toBudgetId: to, usd, tokens, by: origin.actor }
  const event = workspaceEvent('budget_moved', facts, eventBy(context))
  const along = alongWith([from.budget, given.record], command)
  return { ...done(from.budget, [event, ...from.events, ...told], [given.record]), along }
}

const stop: Act<'stop'> = (budget, { reason }, context) => {
  const { now, origin } = context
  if (budget.stoppedAt !== null) return done(budget, [])
  const record = changed(budget, { stoppedAt: now, stoppedBy: origin.actor }, now)
  const facts = { ...factsOf(record), by: origin.actor, reason }
  return done(record, [workspaceEvent('budget_stopped', facts, eventBy(context))])
}

const release: Act<'release'> = (budget, _command, context) => {
  if (budget.stoppedAt === null) return done(budget, [])
  const record = changed(budget, { stoppedAt: null, stoppedBy: null }, context.now)
  const facts = { ...factsOf(record), by: context.origin.actor }
  return done(record, [workspaceEvent('budget_released', facts, eventBy(context))])
}

const allowModel: Act<'allowModel'> = (budget, { model }, context) => {
  const allowedModels = budget.allowedModels.includes(model)
    ? budget.allowedModels
    : [...budget.allowedModels, model]
  const unknownModel = budget.unknownModel === model ? null : budget.unknownModel
  const record = changed(budget, { allowedModels, unknownModel }, context.now)
  const facts = { ...factsOf(record), change: 'changed' as const, by: context.origin.actor }
  return done(record, [workspaceEvent('budget_changed', facts, eventBy(context))])
}

const elapse: Act<'elapse'> = (budget, _command, context) => {
  const counting = recounted(budget, context)
  return done(counting.budget, counting.events)
}

/** Compared with the ledger, which is right. */
function recounted(budget: BudgetRecord, { now, counted }: BudgetContext) {
  if (budget.countDueAt === null || budget.countDueAt > now || !counted) return { budget, events: [] }
  // What was used in the period that has just ended is not of this one, which is counted next.
  if (counted.periodStart !== budget.periodStart) return { budget, events: [] }
  const usd = budget.countNotional ? sumOfDollars(counted.usd, counted.notionalUsd) : counted.usd
  const isNew = now - budget.createdAt < COUNT_AGAIN_MS
  const next = {
    ...budget,
    consumedUsd: picosOf(usd) < 0n ? '0' : usd,
    consumedTokens: Math.max(0, counted.tokens),
    // Those of a budget that was removed and set again are still there.
    ...{ reservedUsd: counted.reservedUsd, reservedTokens: counted.reservedTokens },
    countDueAt: now + (isNew ? COUNT_AGAIN_MS : budget.isPaced ? PACE_EVERY_MS : COUNT_EVERY_MS),
  }
  const isSame = (field: 'consumedUsd' | 'reservedUsd') => picosOf(next[field]) === picosOf(budget[field])
  const isRight =
    isSame('consumedUsd') &&
    isSame('reservedUsd') &&
    next.consumedTokens === budget.consumedTokens &&
    next.reservedTokens === budget.reservedTokens
  const told = crossed(isSpent(next) ? next : { ...next, exceededAt: null }, budget, now)
  const isDrift = !isRight && now - budget.createdAt > SETTLED_AFTER_MS
  const facts = { ...factsOf(told.budget), countedUsd: next.consumedUsd, countedTokens: next.consumedTokens }
  const drift = isDrift ? [workspaceEvent('budget_recounted', facts, { actor: 'system', now })] : []
  return { budget: told.budget, events: [...drift, ...told.events] }
}

const ACTS: { [K in Exclude<BudgetCommand['kind'], 'create'>]: Act<K> } = {
  ...{ update, remove, move, stop, release, allowModel, elapse },
}
