import type { AnswerTo } from '../../../../src/client/client.ts'
import { durationText } from '../../parts/wording.ts'

/** The limits of a workspace in the words of the page, and what of them is being changed. Pure. */

export type LimitsInUse = AnswerTo<'GET', '/limits'>
export type Limits = Omit<LimitsInUse, 'usage'>
export type LimitName = keyof Limits

interface NumberField {
  name: LimitName
  words: string
  unit: string
  hint?: string
  /** Beside the limit: how much of it is used. */
  use?: keyof LimitsInUse['usage']
  /** May be left empty, which means this. */
  empty?: string
  /** The number that is shown is the stored one divided by this. */
  per?: number
}

const MIB = 1024 * 1024

export const LIMIT_GROUPS: readonly { title: string; fields: readonly NumberField[] }[] = [
  {
    title: 'How much',
    fields: [
      { name: 'maxConcurrentClaims', words: 'Tasks held at once', unit: 'tasks', use: 'activeClaims' },
      { name: 'maxActiveSessions', words: 'Workers at once', unit: 'workers', use: 'activeSessions' },
      {
        name: 'maxGenerationsPerTask',
        words: 'Times a task may be taken',
        unit: 'times',
        hint: 'Handing it back counts, too.',
      },
      { name: 'maxResultBytes', words: 'Size of a result', unit: 'MiB', per: MIB },
    ],
  },
  {
    title: 'How long agents may be silent',
    fields: [
      { name: 'minLeaseSeconds', words: 'Shortest lease', unit: 's' },
      { name: 'maxLeaseSeconds', words: 'Longest lease', unit: 's' },
      {
        name: 'assignTimeoutSeconds',
        words: 'Until it starts',
        unit: 's',
        hint: 'How long an assigned task may wait to be started.',
      },
      {
        name: 'stallTimeoutSeconds',
        words: 'Silence while it works',
        unit: 's',
        hint: 'Applies from the next start or sign of life.',
        empty: 'Its lease',
      },
      {
        name: 'verifyTimeoutSeconds',
        words: 'Until a verdict',
        unit: 's',
        hint: 'Then a person is asked.',
      },
      {
        name: 'hangGraceSeconds',
        words: 'Beyond its estimate',
        unit: 's',
        hint: 'Then the task is suspected to hang.',
      },
      {
        name: 'hangAbortSeconds',
        words: 'Without progress, once suspected',
        unit: 's',
        hint: 'Then the attempt is ended.',
      },
    ],
  },
  {
    title: 'How long things are kept',
    fields: [
      { name: 'claimHistoryRetentionDays', words: 'History of attempts', unit: 'days' },
      {
        name: 'branchRetentionDays',
        words: 'Branches of tasks that have ended',
        unit: 'days',
        hint: 'Accepted work stays longer. 0 keeps them forever.',
      },
    ],
  },
]

const NUMBERS = LIMIT_GROUPS.flatMap(({ fields }) => fields)
const fieldOf = (name: LimitName) => NUMBERS.find((field) => field.name === name)

export const ORDER_WORDS = { priority: 'By priority', shortest_first: 'Short tasks first' } as const

/** What is written in the fields and differs from what is saved: text, as it was typed. */
export type LimitDraft = Partial<Record<LimitName, string>>

/** How a value is written in its field. */
export function shownIn(name: LimitName, value: Limits[LimitName]): string {
  if (value === null) return ''
  const { per = 1 } = fieldOf(name) ?? {}
  return typeof value === 'number' ? String(value / per) : String(value)
}

/** "s = 1 h": nobody reads 3600 seconds. */
export function unitText(unit: string, text: string): string {
  const seconds = Number(text)
  return unit === 's' && seconds >= 120 ? `s = ${durationText(seconds * 1_000)}` : unit
}

/** A value as people read it: "3 MiB", "its lease", "on". */
export function limitText(name: LimitName, value: Limits[LimitName]): string {
  const field = fieldOf(name)
  if (value === null) return (field?.empty ?? 'none').toLowerCase()
  if (name === 'queueOrder') return ORDER_WORDS[value as keyof typeof ORDER_WORDS].toLowerCase()
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return `${shownIn(name, value)} ${field?.unit ?? ''}`.trim()
}

export const limitWords = (name: LimitName): string =>
  fieldOf(name)?.words ?? (name === 'queueOrder' ? 'Order of the queue' : 'Results that come late')

/** What is sent, and the problems that are known before. Only what differs is sent: others may change the rest. */
export function changesIn(draft: LimitDraft, saved: Limits) {
  const changes: Partial<Limits> = {}
  const set = (name: LimitName, value: unknown) => Object.assign(changes, { [name]: value })
  const problems: Partial<Record<LimitName, string>> = {}
  for (const [key, text] of Object.entries(draft)) {
    const name = key as LimitName
    if (text === undefined || text === shownIn(name, saved[name])) continue
    if (name === 'queueOrder') set(name, text)
    else if (name === 'lateResults') set(name, text === 'true')
    else {
      const { per = 1, empty } = fieldOf(name) ?? {}
      const number = Number(text) * per
      if (text.trim() === '' && empty !== undefined) set(name, null)
      else if (text.trim() === '' || !Number.isFinite(number)) problems[name] = 'Write a number.'
      else set(name, Math.round(number))
    }
  }
  return { changes, problems }
}

/** The words of the server after the name of a field: "would be 1, and 2 are in use". */
const sentence = (message: string) => `It ${message.replace(/^it /i, '').replace(/\.$/, '')}.`

interface Refusal {
  code?: string
  detail?: string
  errors?: readonly { field: string; message: string }[]
}

/** A refusal in words: at its fields, and as a sentence where it names none. */
export function refusalIn(error: Error | null): {
  fields: Partial<Record<LimitName, string>>
  rest: string | null
} {
  const { errors = [], detail } = (error ?? {}) as Refusal
  const fields = Object.fromEntries(errors.map(({ field, message }) => [field, sentence(message)]))
  const isAtFields = errors.length > 0 && errors.every(({ field }) => field in NAMES)
  if (!error || isAtFields) return { fields, rest: null }
  return { fields, rest: inWords(detail ?? error.message) }
}

const NAMES = Object.fromEntries(
  [...NUMBERS.map(({ name }) => name), 'queueOrder' as const, 'lateResults' as const].map((name) => [
    name,
    limitWords(name),
  ]),
)

/** The names of the API are replaced by those of the page. */
export const inWords = (text: string) =>
  text.replace(/\b[a-z]+(?:[A-Z][a-z]+)+\b/g, (name) => (NAMES[name] ? `“${NAMES[name]}”` : name))

export const isChangedSince = (error: Error | null) => (error as Refusal | null)?.code === 'VERSION_MISMATCH'

/** What somebody else saved in the meantime, beside what is written here. */
export const differences = (base: Limits, saved: Limits, draft: LimitDraft) =>
  (Object.keys(NAMES) as LimitName[])
    .filter((name) => base[name] !== saved[name])
    .map((name) => ({
      name,
      words: limitWords(name),
      saved: limitText(name, saved[name]),
      before: limitText(name, base[name]),
      mine: draft[name] === undefined ? null : draft[name],
    }))
