import type { BoardColumn } from '../../../../src/views/board/columns.ts'
import type { ColumnView } from '../../live/board-list.ts'
import { IN_LIST } from './list-values.ts'

/**
 * The rows of the list as far as they are known without a hole, and the column that has to be read for more: rows of a later
 * column would be pushed down by those that come. Pure.
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

/** All rows that were read, and the columns that have more: for an order of its own, where any row may come anywhere. */
export function readRows(column: (name: BoardColumn) => ColumnView): {
  ids: string[]
  unread: BoardColumn[]
} {
  return {
    ids: IN_LIST.flatMap((name) => column(name).ids),
    unread: IN_LIST.filter((name) => column(name).hasMore),
  }
}
