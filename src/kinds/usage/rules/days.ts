import { periodAt } from '../../budget/rules/period.ts'

/** Days of local time. */

/** When each of the days begins that this time belongs to: 23 or 25 hours apart where clocks are changed. */
export function daysIn(timeZone: string, from: number, to: number): number[] {
  const days: number[] = []
  for (let at = from; at < to; ) {
    const { start, end } = periodAt('day', timeZone, at)
    days.push(start)
    at = end!
  }
  return days
}

/** The name of the day that begins then, as YYYY-MM-DD. */
export function dayName(timeZone: string, start: number): string {
  return new Intl.DateTimeFormat('en-CA', {
    timeZone,
    ...{ year: 'numeric', month: '2-digit', day: '2-digit' },
  }).format(start)
}
