import { picosOf, textOfPicos } from '../../../pure/money.ts'
import { type ModelTotals, RUN_TIME, type UsageSource } from '../record.ts'
import { NO_TOTALS } from './book.ts'

/** The time that a run has worked is one more total of it, beside those of its models, and costs where its agent has a price for it. */

export interface Timed {
  /** Decimal dollars; null: its time costs nothing. */
  usdPerHour: string | null
}

interface Working {
  /** Null: the time that is booked stays. */
  time: Timed | null
  /** When the run began, and now, by the database's clock. */
  startedAt: number | null
  now: number
  isFinal: boolean
}

const HOUR_MS = 3_600_000n
/** On the way it is booked when so much is new: sooner where it costs, since a budget may stop it. */
export const PRICED_EVERY_MS = 10_000
const UNPRICED_EVERY_MS = 60_000

/** Rounded half up, to the pico-dollar. */
const costOf = (workMs: number, usdPerHour: string): string =>
  textOfPicos((picosOf(usdPerHour) * BigInt(workMs) + HOUR_MS / 2n) / HOUR_MS)

/** The totals of a report with those of its time. Time only grows, also where the clock is set back. */
export function withTime(
  models: Readonly<Record<string, ModelTotals>>,
  source: Pick<UsageSource, 'booked'> | null,
  { time, startedAt, now, isFinal }: Working,
): Readonly<Record<string, ModelTotals>> {
  const before = source?.booked[RUN_TIME]
  const bookedMs = before?.workMs ?? 0
  const workMs = startedAt === null ? 0 : Math.max(bookedMs, now - startedAt)
  const everyMs = time?.usdPerHour == null ? UNPRICED_EVERY_MS : PRICED_EVERY_MS
  const isDue = isFinal ? workMs > 0 : workMs - bookedMs >= everyMs
  if (!time || !isDue) return before ? { ...models, [RUN_TIME]: before } : models
  const { usdPerHour } = time
  const cost =
    usdPerHour === null
      ? ({ costUsd: null, basis: 'unknown' } as const)
      : ({ costUsd: costOf(workMs, usdPerHour), basis: 'priced' } as const)
  return { ...models, [RUN_TIME]: { ...NO_TOTALS, workMs, ...cost } }
}
