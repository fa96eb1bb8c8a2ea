import type { Cron } from './cron.ts'
import { DAY_MS, instantsOf, localDay, localTime, MINUTE_MS } from './time-zone.ts'

/** When a schedule fires. */

/** 29 February may be eight years away: 2096 to 2104. */
const FURTHEST_DAYS = 8 * 366 + 1

/**
 * The first time after an instant; null: never.
 *
 * A time that the local clock skips fires once, at the jump; one that it shows twice fires the first time only. A pattern for every hour, or
 * every few hours, follows real time: it fires whenever the clock shows a time that fits.
 */
export function nextFire(cron: Cron, zone: string, after: number): number | null {
  const first = fires(cron, zone, after).next()
  return first.done ? null : first.value
}

/** The times from one to another, both included; of more than `most`, the last ones. */
export function firesBetween(cron: Cron, zone: string, from: number, to: number, most: number): number[] {
  const found: number[] = []
  for (const at of fires(cron, zone, from - 1)) {
    if (at > to) break
    found.push(at)
  }
  return found.slice(-most)
}

function* fires(cron: Cron, zone: string, after: number): Generator<number> {
  const today = Math.floor(localTime(zone, after) / DAY_MS) * DAY_MS
  let last = after
  let daysWithout = 0
  // From the day before: where the clock is set back at midnight, that day continues.
  for (let midnight = today - DAY_MS; daysWithout < FURTHEST_DAYS; midnight += DAY_MS) {
    daysWithout++
    if (!isOnDay(cron, midnight)) continue
    for (const at of firesOn(cron, zone, midnight)) {
      if (at <= last) continue
      yield at
      last = at
      daysWithout = 0
    }
  }
}

function isOnDay({ days, months, weekdays, eitherDay }: Cron, midnight: number): boolean {
  const date = new Date(midnight)
  if (!months.has(date.getUTCMonth() + 1)) return false
  const [isDay, isWeekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())]
  return eitherDay ? isDay || isWeekday : isDay && isWeekday
}

function firesOn({ hours, minutes, isHourly }: Cron, zone: string, midnight: number): number[] {
  const day = localDay(zone, midnight)
  const fires = new Set<number>()
  for (const hour of hours)
    for (const minute of minutes) {
      const shown = instantsOf(day, midnight + (hour * 60 + minute) * MINUTE_MS)
      if (isHourly) for (const at of shown) fires.add(at)
      else fires.add(shown[0] ?? day.changesAt)
    }
  return [...fires].sort((a, b) => a - b)
}
