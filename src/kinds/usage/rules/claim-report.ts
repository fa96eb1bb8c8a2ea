import { sumOfDollars } from '../../../pure/money.ts'
import { type BudgetLeft, leastLeft } from '../../budget/rules/claims.ts'
import { workspaceEvent } from '../../events.ts'
import { NOTHING_ASKED, NOTHING_CHANGED, type RunsStep } from '../../run/rules/step.ts'
import type { ModelTotals, UsageSource } from '../record.ts'
import { type Booked, type Totals, totalsOf } from './book.ts'
import { record } from './step.ts'

/** What the holder of a claim reports, whose agent Baton does not run. */
export interface ClaimReport {
  taskId: number
  taskUuid: string
  generation: number
  session: string
  agent: string
  number: number | null
  /** When its claim ended; null: it had not. */
  endedAt: number | null
  models: Readonly<Record<string, ModelTotals>>
}

/** What a past holder has used is told at most so long after its claim. */
const LATEST_MS = 24 * 3_600_000

export interface ClaimBooked {
  /** When it was decided. */
  now: number
  isBooked: boolean
  /** It came so late after the end of its claim that it counts no more. */
  isTooLate: boolean
  totals: Totals
  budget: BudgetLeft | null
}

/** The log is told of a claim at most this often. */
const TELL_EVERY_MS = 5_000

/**
 * Null: there is no such claim. One that is over is booked, too: what it has used was used. Not for ever, since nobody else can say
 * whether it is true.
 */
export const reportClaim = (claim: ClaimReport): RunsStep<ClaimBooked | null> => ({
  on: 'runs',
  reads: {
    ...NOTHING_ASKED,
    usage: {
      ...{
        sourceId: claim.taskUuid,
        generation: claim.generation,
        agent: claim.agent,
        session: claim.session,
      },
      claim: { taskId: claim.taskId, taskUuid: claim.taskUuid, generation: claim.generation },
    },
  },
  decide({ usage, now }) {
    if (!usage?.source || usage.source.session !== claim.session)
      return { answer: null, changes: NOTHING_CHANGED }
    const before = usage.source
    const id = { sourceId: claim.taskUuid, generation: claim.generation }
    const isTooLate = claim.endedAt !== null && now - claim.endedAt > LATEST_MS
    const report = { number: claim.number, isWhole: false, models: claim.models }
    const recorded = isTooLate ? null : record(usage, id, report, now)
    const booked = recorded?.booked ?? null
    const after = booked?.source ?? before
    const totals = totalsOf(after.booked)
    const budget = leastLeft(withCharged(usage.budgets, recorded?.changes.budgets ?? []))
    const answer = { now, isBooked: booked !== null, isTooLate, totals, budget }
    if (!recorded || !booked) return { answer, changes: NOTHING_CHANGED }
    const isTold = before.toldAt === null || now - before.toldAt >= TELL_EVERY_MS
    const source = isTold ? { ...after, toldAt: now } : after
    const used = {
      agent: before.agent,
      ...{ tokens: totals.tokens, costUsd: totals.costUsd, ...ofTask(totals, usage.others) },
    }
    const by = { actor: `agent:${before.agent}`, now }
    const about = { taskId: claim.taskId, generation: claim.generation }
    const told = isTold
      ? [{ ...workspaceEvent('claim_usage', used, by), ...about, ...inMission(before) }]
      : []
    const changes = {
      ...NOTHING_CHANGED,
      spent: [spentBy(claim.taskId, before, booked)],
      usage: { ...recorded.changes, sources: [source] },
      events: [...told, ...recorded.events],
    }
    return { answer, changes }
  },
})

const withCharged = <T extends { budgetId: string }>(before: readonly T[], charged: readonly T[]): T[] => {
  const after = new Map(charged.map((one) => [one.budgetId, one]))
  return before.map((one) => after.get(one.budgetId) ?? one)
}

const inMission = ({ missionId }: UsageSource) => (missionId === null ? {} : { missionId })

const ofTask = ({ tokens, costUsd }: Totals, others: { tokens: number; costUsd: string | null }) => ({
  taskTokens: tokens + others.tokens,
  taskCostUsd: costUsd === null && others.costUsd === null ? null : sumOfDollars(costUsd, others.costUsd),
})

/** In the totals of its mission a claim counts as a run. */
function spentBy(taskId: number, before: UsageSource, { source, tokens, usd, notionalUsd }: Booked) {
  const isFirst = before.rows === 0
  const wasUnknown = !isFirst && totalsOf(before.booked).isCostUnknown
  const unknownRuns = Number(totalsOf(source.booked).isCostUnknown) - Number(wasUnknown)
  return { taskId, tokens, usd, notionalUsd, runs: Number(isFirst), unknownRuns }
}
