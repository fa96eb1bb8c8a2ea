import type { Card } from '../../live/card.ts'
import type { Sort } from '../../parts/data-table.tsx'
import { columnNamed, LIST_COLUMNS, type ListColumnName, listColumnNames } from './list-values.ts'

/** The list by one of its columns. Pure. */

export const canSort = (column: string): column is ListColumnName =>
  Object.hasOwn(LIST_COLUMNS, column) && columnNamed(column as ListColumnName).sortBy !== undefined

export const SORT_WORDS: Record<string, string> = Object.fromEntries(
  listColumnNames.filter(canSort).map((name) => [name, columnNamed(name).words.toLowerCase()]),
)
SORT_WORDS.task = 'title'
SORT_WORDS.age = 'age'
SORT_WORDS.worked = 'time worked'

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
    : {
        column: chosen.column,
        isDescending: canSort(chosen.column) && columnNamed(chosen.column).isLargestFirst === true,
      }

/** The ids in the order; those whose cards are not known stay last, and equals as they were. */
export function sorted(
  ids: readonly string[],
  { column, isDescending }: Sort,
  cardOf: (id: string) => Card | undefined,
): string[] {
  const read = columnNamed(column as ListColumnName).sortBy!
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
