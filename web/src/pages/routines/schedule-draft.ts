import { readCron } from '../../../../src/kinds/routine/rules/cron.ts'
import { timeText } from './schedule-words.ts'

/** A schedule as a form has it: the usual ones by choice, all others as cron text. Pure. */

export interface Schedule {
  cron: string
  timeZone: string
  overlap: 'skip' | 'queue' | 'replace'
  catchUp: 'none' | 'last' | 'all'
}

export const RHYTHMS = ['none', 'hour', 'day', 'weekday', 'week', 'month', 'cron'] as const
export type Rhythm = (typeof RHYTHMS)[number]

export interface ScheduleDraft extends Omit<Schedule, 'cron'> {
  rhythm: Rhythm
  /** "02:00". */
  time: string
  /** "1" is Monday, "0" is Sunday. */
  weekday: string
  /** "1" to "31". */
  day: string
  /** The text, for the rhythm "cron". */
  cron: string
}

const NOTHING = { rhythm: 'none', time: '09:00', weekday: '1', day: '1', cron: '' } as const

/** What a routine without a schedule begins with: the reader's own zone. */
export const newSchedule = (timeZone: string): ScheduleDraft => ({
  ...NOTHING,
  timeZone,
  overlap: 'skip',
  catchUp: 'last',
})

/** The present schedule in the form. What no choice says stays as it was written. */
export function draftOfSchedule({ cron, ...rest }: Schedule): ScheduleDraft {
  const draft: ScheduleDraft = { ...NOTHING, ...rest, rhythm: 'cron', cron }
  const read = readCron(cron)
  if ('problem' in read || read.minutes.length !== 1 || read.months.size !== 12) return draft
  const { minutes, hours, days, weekdays, eitherDay } = read
  const minute = minutes[0]!
  const isAnyDay = days.size === 31 && !eitherDay
  if (hours.length === 24 && isAnyDay && weekdays.size === 7)
    return { ...draft, rhythm: 'hour', time: timeText(0, minute) }
  if (hours.length !== 1 || eitherDay) return draft
  const found = { ...draft, time: timeText(hours[0]!, minute) }
  const week = [...weekdays].sort().join()
  if (isAnyDay && week === '0,1,2,3,4,5,6') return { ...found, rhythm: 'day' }
  if (isAnyDay && week === '1,2,3,4,5') return { ...found, rhythm: 'weekday' }
  if (isAnyDay && weekdays.size === 1) return { ...found, rhythm: 'week', weekday: week }
  if (weekdays.size === 7 && days.size === 1) return { ...found, rhythm: 'month', day: String([...days][0]) }
  return draft
}

/** The cron text of the choices; null: no schedule. */
export function cronOfDraft({ rhythm, time, weekday, day, cron }: ScheduleDraft): string | null {
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  switch (rhythm) {
    case 'none':
      return null
    case 'hour':
      return `${minute} * * * *`
    case 'day':
      return `${minute} ${hour} * * *`
    case 'weekday':
      return `${minute} ${hour} * * 1-5`
    case 'week':
      return `${minute} ${hour} * * ${weekday}`
    case 'month':
      return `${minute} ${hour} ${day} * *`
    case 'cron':
      return cron.trim()
  }
}

/** Another rhythm: cron text begins with what was chosen before. */
export function withRhythm(draft: ScheduleDraft, rhythm: Rhythm): ScheduleDraft {
  const cron = rhythm === 'cron' ? (cronOfDraft(draft) ?? draft.cron) : draft.cron
  return { ...draft, rhythm, cron }
}

export function scheduleOfDraft(draft: ScheduleDraft): Schedule | null {
  const cron = cronOfDraft(draft)
  const { timeZone, overlap, catchUp } = draft
  return cron === null ? null : { cron, timeZone: timeZone.trim(), overlap, catchUp }
}
