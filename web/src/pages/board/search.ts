import { taskStates } from '../../../../src/pure/states.ts'
import {
  type CardFilter,
  FILTER_NAMES,
  type ListedFilter,
  type Wanted,
  wantedIn,
} from '../../../../src/views/board/filter.ts'
import { param, type SearchOf, writeSearch } from '../../search-params.ts'

/** The parts of a board that are in its address: everything that a link to it should show. */

const BOARD_VIEWS = ['kanban', 'list'] as const
export const GROUPS = ['mission', 'agent', 'project'] as const
export type GroupBy = (typeof GROUPS)[number]

/** A list of which all values are known; others would be refused by the server. */
const listOf = (isKnown: (value: string) => boolean) => (text: string) => {
  const { some, none } = wantedIn(text)
  return [...some, ...none].every(isKnown) ? text : undefined
}
const isState = (value: string) => (taskStates as string[]).includes(value)
const isPriority = (value: string) => /^([1-9]|10)$/.test(value)

export const BOARD_SEARCH = {
  view: param.oneOf(BOARD_VIEWS),
  /** Lists of values, as in the query of GET /board. */
  state: listOf(isState),
  type: param.text,
  priority: listOf(isPriority),
  project: param.text,
  mission: param.text,
  agent: param.text,
  tag: param.text,
  q: param.text,
  group: param.oneOf(GROUPS),
  /** Order of the list: `cost`, or `-cost` for the largest first. */
  sort: param.text,
  /** Columns of the list, by name. */
  columns: param.list,
  /** Opens the side panel. */
  task: param.text,
  /** Opens the dialog for a new task. */
  new: param.oneOf(['task']),
}

export type BoardSearch = SearchOf<typeof BOARD_SEARCH>
/** Lists, and the words of the title; undefined: any. */
export type FilterChange = { [Name in ListedFilter | 'q']?: string | undefined }
export type BoardView = (typeof BOARD_VIEWS)[number]

export const filterIn = (search: BoardSearch): CardFilter =>
  Object.fromEntries(FILTER_NAMES.flatMap((name) => (search[name] ? [[name, search[name]]] : [])))

export const isFiltered = (search: BoardSearch) => FILTER_NAMES.some((name) => search[name] !== undefined)

const NOTHING: Wanted = { some: [], none: [] }
export const wantedOf = (search: BoardSearch, name: ListedFilter): Wanted => {
  const text = search[name]
  return text === undefined ? NOTHING : wantedIn(text)
}

/** The one value that a filter leaves; undefined: several, or any. */
export function onlyValue(search: BoardSearch, name: ListedFilter): string | undefined {
  const { some } = wantedOf(search, name)
  return some.length === 1 ? some[0] : undefined
}

/** The filter without this value, or with it: wanted or not. */
export function withValue(wanted: Wanted, value: string, as: 'some' | 'none' | null): Wanted {
  const others = {
    some: wanted.some.filter((one) => one !== value),
    none: wanted.none.filter((one) => one !== value),
  }
  return as === null ? others : { ...others, [as]: [...others[as], value] }
}

/** The address of the board after a change; `undefined` takes a part away. */
export const boardAt = (
  search: BoardSearch,
  change: { [Name in keyof BoardSearch]?: BoardSearch[Name] | undefined },
) => `/board${writeSearch({ ...search, ...change })}`
