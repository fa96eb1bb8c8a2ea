import { type Cron, readCron } from '../../../../src/kinds/routine/rules/cron.ts'

/** A schedule as people say it: "every weekday at 09:00". Pure. */

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
]
const MOST_TIMES = 4

/** "a", "a and b", "a, b and c". */
const listed = (names: readonly string[]) =>
  names.length <= 1 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

const twoDigits = (value: number) => String(value).padStart(2, '0')
export const timeText = (hour: number, minute: number) => `${twoDigits(hour)}:${twoDigits(minute)}`

/** "1st", "2nd", "11th". */
export function ordinal(day: number): string {
  const rest = day % 100 >= 11 && day % 100 <= 13 ? 0 : day % 10
  return `${day}${['th', 'st', 'nd', 'rd'][rest] ?? 'th'}`
}

const ascending = (values: Iterable<number>) => [...values].sort((a, b) => a - b)

/** The step of "*" or "*" with a step: values from 0 to the end with one distance; null: they are others. */
function stepOf(values: readonly number[], size: number): number | null {
  const step = values.length === 1 ? size : values[1]! - values[0]!
  const isEven = values.every((value, place) => value === place * step) && values.length * step === size
  return isEven ? step : null
}

/** 9 to 17 for values without a gap. */
function rangeText(values: readonly number[], word: (value: number) => string): string {
  const isRange = values.length > 2 && values.every((value, place) => value === values[0]! + place)
  return isRange ? `${word(values[0]!)} to ${word(values.at(-1)!)}` : listed(values.map(word))
}

const every = (step: number, unit: string) => (step === 1 ? `every ${unit}` : `every ${step} ${unit}s`)
const pastHour = (minutes: readonly number[]) =>
  `at ${minutes.length === 1 ? 'minute' : 'minutes'} ${rangeText(minutes, String)}`

/** When it fires within a day. `isRepeated`: it begins with "every", so that no day has to be named. */
function timesIn({ minutes, hours }: Cron): { words: string; isRepeated: boolean } {
  const [perHour, perDay] = [stepOf(minutes, 60), stepOf(hours, 24)]
  const isOnce = minutes.length === 1
  if (hours.length === 24) {
    if (perHour !== null && perHour < 60) return { words: every(perHour, 'minute'), isRepeated: true }
    const at = isOnce && minutes[0] === 0 ? '' : ` ${pastHour(minutes)}`
    return { words: `every hour${at}`, isRepeated: true }
  }
  // Two times a day are said as they are.
  if (perDay !== null && hours.length > 2 && isOnce)
    return {
      words: `${every(perDay, 'hour')}${minutes[0] === 0 ? '' : ` ${pastHour(minutes)}`}`,
      isRepeated: true,
    }
  const times = hours.flatMap((hour) => minutes.map((minute) => timeText(hour, minute)))
  if (times.length <= MOST_TIMES) return { words: `at ${listed(times)}`, isRepeated: false }
  const inHours = `of the hours ${rangeText(hours, String)}`
  const often = perHour !== null && perHour < 60 ? every(perHour, 'minute') : pastHour(minutes)
  return { words: `${often} ${inHours}`, isRepeated: perHour !== null && perHour < 60 }
}

const weekdayText = (days: readonly number[]) =>
  days.length === 1
    ? `every ${DAYS[days[0]!]}`
    : days.join() === '1,2,3,4,5'
      ? 'every weekday'
      : days.join() === '0,6'
        ? 'on Saturdays and Sundays'
        : // A week begins on Monday.
          `on ${listed([...days].sort((a, b) => ((a + 6) % 7) - ((b + 6) % 7)).map((day) => `${DAYS[day]}s`))}`

/** On which days; null: on all of them. */
function daysIn({ days, weekdays, months, eitherDay }: Cron): string | null {
  const ofMonths =
    months.size === 12
      ? 'of every month'
      : `of ${listed(ascending(months).map((month) => MONTHS[month - 1]!))}`
  const isAnyDay = days.size === 31
  const isAnyWeekday = weekdays.size === 7
  const dates = `on the ${rangeText(ascending(days), ordinal)} ${ofMonths}`
  const onWeekdays = weekdayText(ascending(weekdays))
  if (eitherDay) return `${dates} and ${onWeekdays}`
  if (isAnyDay && isAnyWeekday) return months.size === 12 ? null : `every day ${ofMonths}`
  if (isAnyWeekday) return dates
  if (isAnyDay) return months.size === 12 ? onWeekdays : `${onWeekdays} ${ofMonths}`
  return `${dates}, if it is ${listed(ascending(weekdays).map((day) => `a ${DAYS[day]}`))}`
}

/** The schedule in words; null: the text is no schedule, or none that ever fires. */
export function cronWords(cron: string): string | null {
  const read = readCron(cron)
  if ('problem' in read) return null
  const { words, isRepeated } = timesIn(read)
  const days = daysIn(read)
  if (days === null) return isRepeated ? words : `every day ${words}`
  return isRepeated ? `${words}, ${days}` : `${days} ${words}`
}

/** "every day at 02:00, Europe/Berlin". */
export const scheduleWords = ({ cron, timeZone }: { cron: string; timeZone: string }) =>
  `${cronWords(cron) ?? 'at times that cannot be read'}, ${timeZone.replaceAll('_', ' ')}`

/** "Thu 19 Nov, 02:00" in the zone of the schedule, or of the reader, if this browser does not know the zone. */
export function timeInZone(at: string, timeZone: string): string {
  const format = {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  } as const
  const time = new Date(at)
  try {
    return time.toLocaleString('en-GB', { ...format, timeZone })
  } catch {
    return time.toLocaleString('en-GB', format)
  }
}
