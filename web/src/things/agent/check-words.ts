import type { AnswerTo } from '../../../../src/client/client.ts'
import { labelOfField } from './setting-words.ts'

/** What a test found, in the words of the form. Pure. */

export type Probe = Pick<AnswerTo<'POST', '/adapters/:type/test'>, 'ok' | 'checks'>
export type Check = Probe['checks'][number]

const NAMES: Readonly<Record<string, string>> = {
  adapter: 'Type',
  settings: 'Settings',
  values: 'Values',
  template: 'Prompt',
  folder: 'Folder',
  program: 'Program',
  login: 'Login',
  node: 'Node',
  schedule: 'When it runs',
}

/** Of checks of adapters that are not ours: as they call them. */
export const checkName = (name: string): string =>
  NAMES[name] ?? name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ')

/** "must be a whole number" is said of something; "The folder /x does not exist." is a sentence by itself. */
export function sentenceOf(subject: string, message: string): string {
  const isSentence = !/^(is|are|must|has|have|names|cannot|contains|matches|makes)\b/.test(message)
  const said = isSentence ? message : `${subject} ${message}`
  return /[.!?]$/.test(said) ? said : `${said}.`
}

/** What it found: problems of fields with the names that the form has for them. */
export function checkDetail({ detail, problems, name }: Check): string {
  const isOfFields = name === 'settings' || name === 'values' || name === 'schedule'
  if (!isOfFields || !problems?.length) return detail
  return problems.map(({ field, message }) => sentenceOf(labelOfField(field), message)).join(' ')
}

/** Settings with such problems cannot be saved at all; with others they can, and do not work yet. */
const REFUSED = ['settings', 'values', 'schedule', 'template']

export const problemsOf = ({ checks }: Probe) => checks.flatMap(({ problems = [] }) => problems)

export const canBeSaved = ({ checks }: Probe): boolean =>
  checks.every(({ ok, name }) => ok || !REFUSED.includes(name))
