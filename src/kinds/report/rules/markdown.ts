import { idCarriedBy } from '../../../pure/ids.ts'

/** Pieces of reports. Texts of others are quoted: what they contain neither ends a section nor looks like a line of Baton's. */

const SPECIAL = /[\\`*_{}[\]<>()#+!|~]/g

/** Text of others within a line. */
export const inLine = (text: string) => text.trim().replace(/\s+/g, ' ').replace(SPECIAL, '\\$&')

/** What is written in Markdown, as a part of a line: its words, without the marks for bold and code. */
export const wordsInLine = (text: string) => inLine(text.replace(/(\*\*|__|`+)(?=\S)(.*?\S)\1/g, '$2'))

/** "45,000". */
export const counted = (count: number) => count.toLocaleString('en-US')

const LONGEST_QUOTE = 4_000

/** Text of others as a block. */
export function quoted(text: string): string {
  const trimmed = text.trim()
  const shown =
    trimmed.length > LONGEST_QUOTE ? `${trimmed.slice(0, LONGEST_QUOTE).toWellFormed()}…` : trimmed
  return shown
    .split(/\r\n|\r|\n/)
    .map((line) =>
      line === '' ? '>' : `> ${line.replace(/[<&]/g, (one) => (one === '<' ? '&lt;' : '&amp;'))}`,
    )
    .join('\n')
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** "19 Nov 2026, 14:02:31 UTC": a report is read in many places, and is the same in all. */
export function moment(ms: number | null): string {
  if (ms === null) return '–'
  const at = new Date(ms)
  const day = `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}`
  return `${day}, ${at.toISOString().slice(11, 19)} UTC`
}

/** Such as "1 h 2 min 3 s". */
export function span(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const parts: [number, string][] = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const shown = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`)
  return shown.length === 0 ? `${Math.max(0, ms)} ms` : shown.join(' ')
}

const API = '/api/v1'
/** A task has one name everywhere: the number that its id carries, and its title. */
export const linkToTask = (uuid: string, title = '') =>
  `[${inLine(`#${idCarriedBy(uuid) ?? ''} ${title}`)}](${API}/tasks/${uuid})`
export const linkToRun = (id: string) => `[run](${API}/runs/${id})`
export const linkTo = (title: string, path: string) => `[${title}](${API}${path})`

/** Sections without content are left out. */
export const sections = (...parts: readonly (readonly [title: string | null, text: string])[]) =>
  `${parts
    .filter(([, text]) => text !== '')
    .map(([title, text]) => (title === null ? text : `## ${title}\n\n${text}`))
    .join('\n\n')}\n`

/** How far it was from the estimate. */
export function against(spent: number, estimate: number): string {
  if (estimate <= 0) return ''
  const percent = Math.round(((spent - estimate) / estimate) * 100)
  return percent === 0 ? ' (as estimated)' : ` (${Math.abs(percent)} % ${percent > 0 ? 'more' : 'less'})`
}
