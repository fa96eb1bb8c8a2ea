import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import type { BoardColumn } from '../../../src/views/board/columns.ts'
import type { CardFilter } from '../../../src/views/board/filter.ts'
import type { ColumnView } from './board-list.ts'
import type { Kind, Kinds } from './entities.ts'
import type { OutputChunk } from './frames.ts'
import type { Shown } from './freshness.ts'
import { type BoardStatus, keyOf } from './open-board.ts'
import type { ShownCard } from './pending-acts.ts'
import { useLive } from './provider.tsx'

/** What pages use of the live layer. Each hook listens only to what it shows. */

/** The card of a task, with an act that is not answered yet. Undefined: not known yet, or no longer on the board. */
export function useCard(id: string): ShownCard | undefined {
  const { world } = useLive()
  const subscribe = useCallback(
    (listener: () => void) => {
      world.wantCard(id)
      return world.entities.subscribe('card', id, listener)
    },
    [world, id],
  )
  return useSyncExternalStore(subscribe, () => world.shown(id))
}

/** What events said about a run; undefined when there were none. */
export function useEntity<K extends Kind>(kind: K, id: string): Kinds[K] | undefined {
  const { entities } = useLive().world
  const subscribe = useCallback(
    (listener: () => void) => entities.subscribe(kind, id, listener),
    [entities, kind, id],
  )
  return useSyncExternalStore(subscribe, () => entities.get(kind, id))
}

export interface BoardOnScreen {
  status: BoardStatus
  error: unknown
  column: (name: BoardColumn) => ColumnView
  /** How many cards are loaded after it. */
  loadMore: (name: BoardColumn, pageSize?: number) => Promise<number>
  /** The longest page of each column, in one request. */
  loadLong: () => Promise<number>
  retry: () => void
}

/** The board of a filter: ids by column, counts, and the next page of a column. */
export function useBoard(filter: CardFilter): BoardOnScreen {
  const { world } = useLive()
  const key = keyOf(filter)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is the filter's value
  const board = useMemo(() => world.boards.board(filter), [world, key])
  useEffect(() => world.boards.watch(board), [world, board])
  useSyncExternalStore(board.subscribe, board.version)
  return {
    status: board.status,
    error: board.error,
    column: (name) => board.column(name),
    loadMore: (name, pageSize) => world.boards.loadMore(board, name, pageSize).then(() => board.list.size),
    loadLong: () => world.boards.loadLong(board).then(() => board.list.size),
    retry: () => void world.boards.load(board),
  }
}

export function useFreshness(): Shown {
  const { freshness } = useLive()
  return useSyncExternalStore(freshness.subscribe, freshness.get)
}

export function useInboxCount(): number {
  const { inboxCount } = useLive()
  return useSyncExternalStore(inboxCount.subscribe, inboxCount.get)
}

/** The server's time, updated at an interval. Countdowns are right even if the clock of this machine is wrong by an hour. */
export function useNow(everyMs = 1_000): number {
  const live = useLive()
  const [now, setNow] = useState(() => live.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(live.now()), everyMs)
    return () => clearInterval(timer)
  }, [live, everyMs])
  return now
}

/** Follows the output of these runs, sixteen at most. A chunk says where in the log of its run it begins: holes are read from there. */
export function useOutput(runIds: readonly string[], onChunk: (chunk: OutputChunk) => void): void {
  const { output } = useLive()
  const latest = useRef(onChunk)
  useEffect(() => {
    latest.current = onChunk
  })
  const key = runIds.join()
  useEffect(
    () => output.follow(key === '' ? [] : key.split(','), (chunk) => latest.current(chunk)),
    [output, key],
  )
}
