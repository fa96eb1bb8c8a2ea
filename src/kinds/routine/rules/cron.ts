/** Cron expressions of five fields: which minutes of which days they name. */

export interface Cron {
  /** Ascending. */
  minutes: readonly number[]
  hours: readonly number[]
  /** By day of the month, 1 to 31. */
  days: ReadonlySet<number>
  /** 1 to 12. */
  months: ReadonlySet<number>
  /** 0 is Sunday. */
  weekdays: ReadonlySet<number>
  /** When both are restricted, a day that fits either of them fits, as cron has always done. */
  eitherDay: boolean
  /** Its hour field is a wildcard: it follows real time, also where the local clock is set forward or back. */
  isHourly: boolean
}

interface Field {
  name: string
  least: number
  most: number
  names?: readonly string[]
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const FIELDS: readonly Field[] = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of the month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, names: MONTHS },
  // 7 is Sunday, too.
  { name: 'day of the week', least: 0, most: 7, names: WEEKDAYS },
]
/** The longest that a month can be. */
const LONGEST = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const LONGEST_EXPRESSION = 200

/** The expression, or why it is none. */
export function readCron(text: string): Cron | { problem: string } {
  if (text.length > LONGEST_EXPRESSION)
    return { problem: `must not be longer than ${LONGEST_EXPRESSION} characters` }
  const parts = text.trim().split(/\s+/)
  if (parts.length !== FIELDS.length)
    return {
      problem: `must have five fields (minute, hour, day of the month, month, day of the week), not ${text.trim() === '' ? 0 : parts.length}`,
    }
  const sets: ReadonlySet<number>[] = []
  for (const [i, field] of FIELDS.entries()) {
    const found = readField(parts[i]!, field)
    if ('problem' in found) return found
    sets.push(found.values)
  }
  const [minutes, hours, days, months, weekdays] = sets as [
    ReadonlySet<number>,
    ReadonlySet<number>,
    ReadonlySet<number>,
    ReadonlySet<number>,
    ReadonlySet<number>,
  ]
  const isAny = (place: number) => parts[place]!.startsWith('*')
  const eitherDay = !isAny(2) && !isAny(4)
  if (!eitherDay && ![...months].some((month) => [...days].some((day) => day <= LONGEST[month - 1]!)))
    return { problem: 'names a day that none of its months has' }
  return {
    minutes: ascending(minutes),
    hours: ascending(hours),
    ...{ days, months, eitherDay },
    weekdays: new Set([...weekdays].map((day) => day % 7)),
    isHourly: isAny(1) || hours.size === 24,
  }
}

const ascending = (values: ReadonlySet<number>) => [...values].sort((a, b) => a - b)

function readField(text: string, field: Field): { values: ReadonlySet<number> } | { problem: string } {
  const values = new Set<number>()
  for (const part of text.split(',')) {
    const range = readRange(part, field)
    if (!range)
      return {
        problem: `has ${JSON.stringify(text.slice(0, 50))} as its ${field.name}, which must be *, numbers from ${field.least} to ${field.most}, ranges or steps`,
      }
    for (let value = range.from; value <= range.to; value += range.step) values.add(value)
  }
  return { values }
}

/** `*`, `*`/n, a, a-b or a-b/n. */
function readRange(part: string, field: Field): { from: number; to: number; step: number } | null {
  const [, any, first, last, by] =
    /^(?:(\*)|(\d{1,2}|[A-Za-z]{3})(?:-(\d{1,2}|[A-Za-z]{3}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? []
  if (any === undefined && first === undefined) return null
  // A step needs a range to go through.
  if (by !== undefined && any === undefined && last === undefined) return null
  const step = by === undefined ? 1 : Number(by)
  // "*" is each value once: of the two numbers of Sunday, the first.
  const most = field.most === 7 ? 6 : field.most
  const from = any === undefined ? numberOf(first!, field) : field.least
  const to = any === undefined ? numberOf(last ?? first!, field) : most
  if (from === null || to === null || from > to || step < 1 || step > field.most) return null
  return { from, to, step }
}

function numberOf(text: string, { least, most, names }: Field): number | null {
  const place = names?.indexOf(text.toUpperCase()) ?? -1
  const value = place === -1 ? (/^\d+$/.test(text) ? Number(text) : Number.NaN) : place + least
  return value >= least && value <= most ? value : null
}
