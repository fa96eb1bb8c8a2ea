import { TASK_STATES, taskStates } from '../../../../src/pure/states.ts'
import type { BoardColumn } from '../../../../src/views/board/columns.ts'
import type { Card } from '../../live/card.ts'
import type { Sort } from '../../parts/data-table.tsx'
import { agesFrom } from '../../things/task/card-words.ts'

/** The list by one of its columns. Pure. */

/** The usual order of columns: what waits for a person first. */
export const IN_LIST = ['review', 'in_progress', 'assigned', 'inbox', 'done'] as const satisfies BoardColumn[]

type Value = string | number | null

/** What a card is compared by; null: it has none, and comes last in either direction. */
const VALUES: Record<string, (card: Card) => Value> = {
  state: ({ state }) => IN_LIST.indexOf(TASK_STATES[state].board) * 100 + taskStates.indexOf(state),
  task: ({ title }) => title.toLocaleLowerCase('en'),
  agent: ({ holder, agent }) => holder?.agent ?? agent,
  priority: ({ priority }) => priority,
  attempt: ({ attempt }) => (attempt === 0 ? null : attempt),
  cost: ({ costUsd }) => (costUsd === null ? null : Number(costUsd)),
  age: agesFrom,
}

export const SORT_WORDS: Record<string, string> = {
  state: 'state',
  task: 'title',
  agent: 'agent',
  priority: 'priority',
  attempt: 'attempt',
  cost: 'cost',
  age: 'age',
}

/** For these the largest is usually wanted, so the first click sorts it first. */
const LARGEST_FIRST: readonly string[] = ['priority', 'attempt', 'cost']

export const canSort = (column: string) => Object.hasOwn(VALUES, column)

/** The order in the address: `cost`, or `-cost` for the largest first. */
export function sortIn(text: string | undefined): Sort | undefined {
  if (text === undefined) return undefined
  const isDescending = text.startsWith('-')
  const column = isDescending ? text.slice(1) : text
  return canSort(column) ? { column, isDescending } : undefined
}

export const sortText = ({ column, isDescending }: Sort) => `${isDescending ? '-' : ''}${column}`

/** The order when a column is chosen, and the other way when it is chosen again. */
export const nextSort = (before: Sort | undefined, chosen: Sort): Sort =>
  before?.column === chosen.column
    ? chosen
    : { column: chosen.column, isDescending: LARGEST_FIRST.includes(chosen.column) }

/** The ids in the order; those whose cards are not known stay last, and equals as they were. */
export function sorted(
  ids: readonly string[],
  { column, isDescending }: Sort,
  cardOf: (id: string) => Card | undefined,
): string[] {
  const read = VALUES[column]!
  const values = new Map(
    ids.map((id) => {
      const card = cardOf(id)
      return [id, card ? read(card) : null]
    }),
  )
  return [...ids].sort((one, other) => {
    const [a, b] = [values.get(one) ?? null, values.get(other) ?? null]
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
    const order = a < b ? -1 : a > b ? 1 : 0
    return isDescending ? -order : order
  })
}
