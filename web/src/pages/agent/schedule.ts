import { clockText } from '../../parts/wording.ts'
import { everyWords } from './spans.ts'

/** When an agent is woken, in words. Pure: the present moment is an argument. */

export interface Waking {
  /** When false, nothing wakes it. */
  enabled: boolean
  /** Null: it has no timer. */
  intervalSec: number | null
  wakeOnAssignment: boolean
  wakeOnOnDemand: boolean
  wakeOnAutomation: boolean
  cooldownSec: number
}

const TIMES_SHOWN = 3
const DAY_MS = 86_400_000

/** The next times of a timer, from its next one. */
export const nextTimes = (first: number, intervalSec: number, count = TIMES_SHOWN): number[] =>
  Array.from({ length: count }, (_, i) => first + i * intervalSec * 1_000)

/** "14:30"; of another day "Fri 20 Nov, 14:30"; with seconds where the next times are less than a minute apart. */
function timeText(at: number, now: number, intervalSec: number): string {
  const clock = clockText(at, intervalSec % 60 === 0 ? 'minute' : 'second')
  const isToday = new Date(at).toDateString() === new Date(now).toDateString() && at - now < DAY_MS
  if (isToday) return clock
  const day = new Date(at).toLocaleDateString('en-GB', { weekday: 'short', day: 'numeric', month: 'short' })
  return `${day}, ${clock}`
}

const listed = (parts: readonly string[], last = 'and') =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} ${last} ${parts.at(-1)}`

/** "Every 30 minutes: next at 14:30, 15:00 and 15:30." Null: it has no timer, or nothing wakes it. */
export function timerText({ enabled, intervalSec }: Waking, first: number, now: number): string | null {
  if (!enabled || intervalSec === null) return null
  const times = nextTimes(first, intervalSec).map((at) => timeText(at, now, intervalSec))
  return `${everyWords(intervalSec).replace(/^e/, 'E')}: next at ${listed(times)}.`
}

/** What wakes it, as the end of "It is woken …". */
export function wakingText(waking: Waking): string {
  const { enabled, intervalSec, wakeOnAssignment, wakeOnOnDemand, wakeOnAutomation } = waking
  if (!enabled) return 'Nothing wakes it: all wakeups are off.'
  const by = [
    intervalSec !== null && everyWords(intervalSec),
    wakeOnAssignment && 'when a task is assigned to it',
    wakeOnOnDemand && 'when a person wakes it',
    wakeOnAutomation && 'when an agent or a program wakes it',
  ].filter((one) => one !== false)
  return by.length === 0 ? 'Nothing wakes it.' : `It is woken ${listed(by, 'or')}.`
}

/** Why it will not run as these settings seem to say; null: it will. */
export function whyNotWoken(waking: Waking): string | null {
  const { enabled, intervalSec, wakeOnAssignment, wakeOnOnDemand, wakeOnAutomation, cooldownSec } = waking
  if (!enabled)
    return intervalSec === null
      ? 'Nothing wakes it while wakeups are off: it does no work.'
      : 'The timer never fires while wakeups are off.'
  const isNeverWoken = intervalSec === null && !wakeOnAssignment && !wakeOnOnDemand && !wakeOnAutomation
  if (isNeverWoken) return 'Nothing wakes it: it has no timer, and everything else is off.'
  if (intervalSec !== null && cooldownSec > intervalSec)
    return `The pause between runs is longer than the timer: it runs ${everyWords(cooldownSec)} at most.`
  return null
}
