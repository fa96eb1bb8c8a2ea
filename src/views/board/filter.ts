import type { AnswerOf } from '../../pure/shapes.ts'
import type { Card } from './shapes.ts'

/** Which cards belong to a filtered board: what the database selects (views/board/postgres/conditions.ts), repeated here for pages. */

/**
 * As in the address of a board and in the query of GET /board. All but `q` are lists: `red,blue` is a card that has one of them, `!red`
 * one that has it not.
 */
export interface CardFilter {
  mission?: string | undefined
  project?: string | undefined
  /** It holds the task, or the task is for it alone. */
  agent?: string | undefined
  tag?: string | undefined
  state?: string | undefined
  type?: string | undefined
  priority?: string | undefined
  /** Part of the title. */
  q?: string | undefined
}

/** The parts that are lists. */
export const LISTED_FILTERS = ['state', 'type', 'priority', 'tag', 'agent', 'mission', 'project'] as const
export type ListedFilter = (typeof LISTED_FILTERS)[number]
export const FILTER_NAMES = [...LISTED_FILTERS, 'q'] as const satisfies (keyof CardFilter)[]

/** What is wanted of a field: one of some values, and none of others. */
export interface Wanted {
  readonly some: readonly string[]
  readonly none: readonly string[]
}

/** The values of a list. A backslash takes a comma, an exclamation mark or a backslash as it is. */
export function wantedIn(text: string): Wanted {
  const some: string[] = []
  const none: string[] = []
  for (const part of text.split(UNQUOTED_COMMA)) {
    const isNot = part.startsWith('!')
    const value = part.slice(isNot ? 1 : 0).replace(QUOTED, '$1')
    const list = isNot ? none : some
    if (!list.includes(value)) list.push(value)
  }
  return { some, none }
}

const QUOTED = /\\(.)/gs
/** One that an even number of backslashes stands before: each two of them are one of the value. */
const UNQUOTED_COMMA = /(?<=(?:^|[^\\])(?:\\\\)*),/

const quoted = (value: string) => value.replace(/[\\,]|^!/g, (letter) => `\\${letter}`)

/** The list of these values; undefined: nothing is wanted. */
export function wantedText({ some, none }: Wanted): string | undefined {
  const parts = [...some.map(quoted), ...none.map((value) => `!${quoted(value)}`)]
  return parts.length === 0 ? undefined : parts.join(',')
}

/** Whether something with these values is wanted. */
export const passes = ({ some, none }: Wanted, values: readonly string[]): boolean =>
  (some.length === 0 || some.some((value) => values.includes(value))) &&
  !none.some((value) => values.includes(value))

type ReadFilter = Partial<Record<ListedFilter, Wanted>>

/** A filter is read once, and asked about thousands of cards. */
const readFilters = new WeakMap<CardFilter, ReadFilter>()

export function readFilter(filter: CardFilter): ReadFilter {
  const known = readFilters.get(filter)
  if (known) return known
  const read: ReadFilter = {}
  for (const name of LISTED_FILTERS) {
    const text = filter[name]
    if (text !== undefined) read[name] = wantedIn(text)
  }
  readFilters.set(filter, read)
  return read
}

type Filtered = Pick<
  AnswerOf<typeof Card>,
  'purpose' | 'missionId' | 'project' | 'agent' | 'tags' | 'title' | 'state' | 'taskType' | 'priority'
> & { holder: { agent: string } | null }

const only = (value: string | null | undefined) => (value == null ? [] : [value])

const VALUES = {
  state: ({ state }) => [state],
  type: ({ taskType }) => [taskType],
  priority: ({ priority }) => [String(priority)],
  tag: ({ tags }) => tags,
  agent: ({ agent, holder }) => [...only(agent), ...only(holder?.agent)],
  mission: ({ missionId }) => only(missionId),
  project: ({ project }) => only(project),
} as const satisfies Record<ListedFilter, (card: Filtered) => readonly string[]>

export function matches(card: Filtered, filter: CardFilter): boolean {
  if (card.purpose !== 'work') return false
  const read = readFilter(filter)
  for (const name of LISTED_FILTERS) {
    const wanted = read[name]
    if (wanted && !passes(wanted, VALUES[name](card))) return false
  }
  return filter.q === undefined || lower(card.title).includes(lower(filter.q))
}

/** Letter by letter, as the database does: of a whole word, a Σ at its end would become another letter than elsewhere. */
const lower = (text: string) =>
  Array.from(text, (letter) => letter.toLowerCase().slice(0, letter.length)).join('')
