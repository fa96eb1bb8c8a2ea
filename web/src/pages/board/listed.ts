import type { BoardColumn } from '../../../../src/core/board.ts'
import type { ColumnView } from '../../live/board-list.ts'

/** The order of columns in the list: what waits for a person first. Pure. */
const IN_LIST = ['review', 'in_progress', 'assigned', 'inbox', 'done'] as const satisfies BoardColumn[]

/**
 * The rows of the list as far as they are known without a hole, and the column that has to be read for more: rows of a later
 * column would be pushed down by those that come.
 */
export function listed(column: (name: BoardColumn) => ColumnView): {
  ids: string[]
  unread: BoardColumn | null
} {
  const ids: string[] = []
  for (const name of IN_LIST) {
    const view = column(name)
    ids.push(...view.ids)
    if (view.hasMore) return { ids, unread: name }
  }
  return { ids, unread: null }
}
