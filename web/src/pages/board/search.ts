import type { CardFilter } from '../../../../src/views/board/filter.ts'
import { param, type SearchOf, writeSearch } from '../../search-params.ts'

/** The parts of a board that are in its address: everything that a link to it should show. */

const BOARD_VIEWS = ['kanban', 'list'] as const

export const BOARD_SEARCH = {
  view: param.oneOf(BOARD_VIEWS),
  project: param.text,
  mission: param.text,
  agent: param.text,
  tag: param.text,
  q: param.text,
  /** Order of the list: `cost`, or `-cost` for the largest first. */
  sort: param.text,
  /** Opens the side panel. */
  task: param.text,
  /** Opens the dialog for a new task. */
  new: param.oneOf(['task']),
}

export type BoardSearch = SearchOf<typeof BOARD_SEARCH>
export type BoardView = (typeof BOARD_VIEWS)[number]
type FilterName = keyof CardFilter

export const FILTERS = ['project', 'mission', 'agent', 'tag', 'q'] as const satisfies FilterName[]

export const filterIn = ({ project, mission, agent, tag, q }: BoardSearch): CardFilter => ({
  ...{ project, mission, agent, tag, q },
})

export const isFiltered = (search: BoardSearch) => FILTERS.some((name) => search[name] !== undefined)

/** The address of the board after a change; `undefined` takes a part away. */
export const boardAt = (
  search: BoardSearch,
  change: { [Name in keyof BoardSearch]?: BoardSearch[Name] | undefined },
) => `/board${writeSearch({ ...search, ...change })}`
