import { useEffect, useState } from 'react'
import type { BoardColumn } from '../../../../src/views/board/columns.ts'
import type { BoardOnScreen } from '../../live/hooks.ts'
import { readRows } from './listed.ts'

/** What is sorted at once: more would keep the page busy with every change. */
export const MOST_SORTED = 5_000
const PAGE = 1_000

type Phase = 'first' | 'ready' | 'reading' | 'failed' | 'stuck'

/**
 * All rows of the board, for an order in which any row may come anywhere. The server has one order for each column, so they are
 * read to the end: first a long page of all columns in one request, then page by page up to the bound.
 */
export function useWholeBoard(board: BoardOnScreen) {
  const [most, setMost] = useState(MOST_SORTED)
  const [phase, setPhase] = useState<Phase>('first')
  const { ids, unread } = readRows((name: BoardColumn) => board.column(name))
  const [column] = unread
  const isWanted = board.status === 'ready' && column !== undefined && ids.length < most
  const isDue = isWanted && (phase === 'first' || phase === 'ready')
  // biome-ignore lint/correctness/useExhaustiveDependencies: one read at a time, begun by its phase
  useEffect(() => {
    if (!isDue) return
    const before = ids.length
    setPhase('reading')
    const read = phase === 'first' ? board.loadLong() : board.loadMore(column!, PAGE)
    read.then(
      // Nothing more came, although there is more: another request would return the same.
      (after) => setPhase(after === before && phase !== 'first' ? 'stuck' : 'ready'),
      () => setPhase('failed'),
    )
  }, [isDue, phase])
  return {
    ids,
    isAll: column === undefined,
    isReading: isWanted && phase !== 'failed' && phase !== 'stuck',
    hasFailed: isWanted && phase === 'failed',
    /** The next ones beyond the bound, or what could not be read. */
    readOn: () => {
      if (!isWanted) setMost(ids.length + MOST_SORTED)
      setPhase('ready')
    },
  }
}
