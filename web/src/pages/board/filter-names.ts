import { TASK_STATES, taskStates } from '../../../../src/pure/states.ts'
import { BOARD_COLUMNS } from '../../../../src/views/board/columns.ts'
import type { ListedFilter, Wanted } from '../../../../src/views/board/filter.ts'
import { STATE_LOOKS } from '../../theme/marks.ts'
import { PRIORITIES } from '../../things/task/card-words.ts'

/** Filters in words. Pure. */

export const FILTER_WORDS = {
  state: 'State',
  type: 'Type',
  priority: 'Priority',
  tag: 'Tag',
  agent: 'Agent',
  mission: 'Mission',
  project: 'Project',
} as const satisfies Record<ListedFilter, string>

export interface Choice {
  readonly value: string
  readonly words: string
}

/** In the order of the board. */
export const STATE_CHOICES: readonly Choice[] = BOARD_COLUMNS.flatMap((column) =>
  taskStates
    .filter((state) => TASK_STATES[state].board === column)
    .map((state) => ({ value: state, words: STATE_LOOKS[state].word })),
)
export const PRIORITY_CHOICES: readonly Choice[] = [...PRIORITIES]
  .reverse()
  .map((priority) => ({ value: String(priority), words: String(priority) }))

const MOST_NAMED = 3

function listed(names: readonly string[]): string {
  const named = names.slice(0, MOST_NAMED).join(', ')
  return names.length > MOST_NAMED ? `${named} and ${names.length - MOST_NAMED} more` : named
}

/** "Failed, Cancelled", "not docs", "red, not blue". */
export function wantedWords({ some, none }: Wanted, nameOf: (value: string) => string): string {
  const parts = [
    some.length > 0 ? listed(some.map(nameOf)) : null,
    none.length > 0 ? `not ${listed(none.map(nameOf))}` : null,
  ]
  return parts.filter((part) => part !== null).join(', ')
}

/** The choices that have these letters; what is chosen and not among them comes first, so that it can be taken back. */
export function choicesFor(known: readonly Choice[], { some, none }: Wanted, typed: string): Choice[] {
  const values = new Set(known.map(({ value }) => value))
  const unknown = [...some, ...none].filter((value) => !values.has(value))
  const letters = typed.trim().toLowerCase()
  return [...unknown.map((value) => ({ value, words: value })), ...known].filter(({ words }) =>
    words.toLowerCase().includes(letters),
  )
}
