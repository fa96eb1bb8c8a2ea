/** Pieces of reports. Texts of others are quoted: what they contain neither ends a section nor looks like a line of Baton's. */

const SPECIAL = /[\\`*_{}[\]<>()#+!|~]/g

/** Text of others within a line. */
export const inLine = (text: string) => text.trim().replace(/\s+/g, ' ').replace(SPECIAL, '\\$&')

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

export const code = (text: string) => `\`${text.replace(/[`\r\n]/g, ' ')}\``

export const moment = (ms: number | null) => (ms === null ? '–' : new Date(ms).toISOString())

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
export const linkToTask = (uuid: string, title = 'task') => `[${inLine(title)}](${API}/tasks/${uuid})`
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
