/** Local time in a zone. A local time is written as milliseconds, as if it were in UTC. */

export const MINUTE_MS = 60_000
export const DAY_MS = 24 * 60 * MINUTE_MS

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  })
  formats.set(zone, format)
  return format
}

/** Offsets such as +02:00 have no summer time; a person who writes one rarely means that. */
export const TIME_ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/

export function isTimeZone(name: string): boolean {
  if (!TIME_ZONE_NAME.test(name)) return false
  try {
    formatOf(name)
    return true
  } catch {
    return false
  }
}

export function localTime(zone: string, at: number): number {
  const parts: Record<string, number> = {}
  for (const { type, value } of formatOf(zone).formatToParts(at)) parts[type] = Number(value)
  const { year, month, day, hour, minute, second } = parts
  return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!)
}

/** How far the local clock is ahead of UTC. */
const offsetAt = (zone: string, at: number) => localTime(zone, at) - Math.floor(at / 1000) * 1000

/** A day of local time: its clock runs evenly, but for at most one change. */
export interface LocalDay {
  /** Before the change, and from it on. They are equal on a day without one. */
  offsets: readonly [number, number]
  /** When the local clock is set forward or back; on other days the start of the day. */
  changesAt: number
}

/** The day that begins at this local time. */
export function localDay(zone: string, midnight: number): LocalDay {
  // Far enough before and after it in any zone; clocks are not changed twice in three days.
  const [from, to] = [midnight - DAY_MS, midnight + 2 * DAY_MS]
  const offsets = [offsetAt(zone, from), offsetAt(zone, to)] as const
  if (offsets[0] === offsets[1]) return { offsets, changesAt: midnight - offsets[0] }
  let [before, after] = [from, to]
  while (after - before > 1000) {
    const middle = Math.floor((before + after) / 2000) * 1000
    if (offsetAt(zone, middle) === offsets[0]) before = middle
    else after = middle
  }
  return { offsets, changesAt: after }
}

/** When the local clock shows this time of that day: once, twice where it is set back, never where it is set forward. */
export function instantsOf({ offsets, changesAt }: LocalDay, local: number): number[] {
  if (offsets[0] === offsets[1]) return [local - offsets[0]]
  const [before, after] = [local - offsets[0], local - offsets[1]]
  return [...(before < changesAt ? [before] : []), ...(after >= changesAt ? [after] : [])]
}
