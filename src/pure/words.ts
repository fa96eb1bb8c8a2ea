import { withBlanks } from './code-words.ts'

/** Words of sentences about events. */

const times = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
})
/** A moment that every reader knows, wherever they are: "19 Nov 2026, 14:05 UTC". */
export const moment = (ms: number) => `${times.format(ms)} UTC`
/** The same of a time that is written as ISO text. */
export const momentOf = (iso: string) => (Number.isNaN(Date.parse(iso)) ? iso : moment(Date.parse(iso)))
export const span = (ms: number) => (ms < 1000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`)
const MOST_SHOWN = 300
/** Text of others within a sentence of ours: on one line, and shortened. */
export const brief = (text: string) => {
  const line = text.trim().replace(/\s+/g, ' ').replace(/\.$/, '')
  return line.length > MOST_SHOWN ? `${line.slice(0, MOST_SHOWN).toWellFormed()}…` : line
}
/** `: reason`, if there is one. */
export const why = (text: string | null | undefined) => (text?.trim() ? `: ${withBlanks(brief(text))}` : '')
export const count = (many: number, one: string) => `${many} ${one}${many === 1 ? '' : 's'}`
const MOST_LISTED = 10
export const list = (names: readonly string[], between = ', ') => {
  if (names.length === 0) return 'nothing'
  const rest = names.length - MOST_LISTED
  return names.slice(0, MOST_LISTED).join(between) + (rest > 0 ? `${between}${rest} more` : '')
}
export const holding = (claims: number) => (claims === 0 ? '' : `, holding ${count(claims, 'task')}`)
