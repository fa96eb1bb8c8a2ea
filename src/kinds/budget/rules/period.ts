import { DAY_MS, instantsOf, localDay, localTime } from '../../routine/rules/time-zone.ts'
import type { BudgetRecord, Period } from '../record.ts'

/** Periods begin at midnight of the workspace's time zone; weeks on Monday. */

export interface Span {
  start: number
  /** Null: it has none. */
  end: number | null
}

/** When the local clock first shows the midnight of that day, or the first time after it where clocks are set forward over it. */
function midnightOf(zone: string, local: number): number {
  const day = localDay(zone, local)
  return instantsOf(day, local)[0] ?? day.changesAt
}

const startOfDay = (local: number) => Math.floor(local / DAY_MS) * DAY_MS

function localStart(period: Exclude<Period, 'none'>, local: number): number {
  const day = startOfDay(local)
  if (period === 'day') return day
  const date = new Date(day)
  if (period === 'week') return day - ((date.getUTCDay() + 6) % 7) * DAY_MS
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
}

function localEnd(period: Exclude<Period, 'none'>, start: number): number {
  if (period === 'day') return start + DAY_MS
  if (period === 'week') return start + 7 * DAY_MS
  const date = new Date(start)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

/** The period that this moment belongs to. */
export function periodAt(period: Period, zone: string, now: number): Span {
  if (period === 'none') return { start: now, end: null }
  const start = localStart(period, localTime(zone, now))
  return { start: midnightOf(zone, start), end: midnightOf(zone, localEnd(period, start)) }
}

/** The budget as it is now: in a new period nothing is consumed. What is reserved moves on with it. */
export function turned(budget: BudgetRecord, zone: string, now: number): BudgetRecord {
  if (budget.periodEnd === null || now < budget.periodEnd) return budget
  const { start, end } = periodAt(budget.period, zone, now)
  return {
    ...budget,
    ...{ periodStart: start, periodEnd: end, consumedUsd: '0', consumedTokens: 0 },
    ...{ warnedAt: null, exceededAt: null, updatedAt: now },
  }
}
