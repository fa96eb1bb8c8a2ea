import type { Schedule } from '../shapes.ts'
import { type Cron, readCron } from './cron.ts'
import { firesBetween, nextFire } from './next-fire.ts'
import { DAY_MS, MINUTE_MS } from './time-zone.ts'

/** What time asks of a routine. */

/** A time that is noticed later than this was missed: nobody looked when it came. */
const LATE_MS = MINUTE_MS
/** As many missed times are caught up at most, and none that is older. */
const MOST_CAUGHT_UP = 100
const OLDEST_CAUGHT_UP_MS = DAY_MS

function cronOf({ cron }: Schedule): Cron {
  const read = readCron(cron)
  if ('problem' in read) throw new Error(`the schedule was not checked: it ${read.problem}`)
  return read
}

export const nextOf = (schedule: Schedule, after: number): number | null =>
  nextFire(cronOf(schedule), schedule.timeZone, after)

export interface Due {
  /** A mission is due for this time. */
  current: number | null
  /** Missed times that are caught up one after another. */
  missed: readonly number[]
  /** Whether times were missed that are not caught up. */
  hasDropped: boolean
}

/** The times that have come since `from`, which has. */
export function dueOf(schedule: Schedule, from: number, now: number): Due {
  const last = lastBetween(schedule, from, now)
  const isOnTime = last !== null && now - last <= LATE_MS
  switch (schedule.catchUp) {
    case 'none':
      return { current: isOnTime ? last : null, missed: [], hasDropped: !isOnTime || last !== from }
    case 'last':
      return { current: last, missed: [], hasDropped: last !== from }
    case 'all': {
      const oldest = Math.max(from, now - OLDEST_CAUGHT_UP_MS)
      const all = firesBetween(cronOf(schedule), schedule.timeZone, oldest, now, MOST_CAUGHT_UP)
      const missed = isOnTime ? all.slice(0, -1) : all
      return { current: isOnTime ? last : null, missed, hasDropped: all[0] !== from }
    }
  }
}

/** In a frequent schedule the last time is near; in a rare one there are few to go through. */
function lastBetween(schedule: Schedule, from: number, to: number): number | null {
  const cron = cronOf(schedule)
  const last = (since: number) => firesBetween(cron, schedule.timeZone, since, to, 1)[0] ?? null
  return last(Math.max(from, to - 2 * DAY_MS)) ?? last(from)
}
