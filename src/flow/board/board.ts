import {
  BOARD_COLUMNS,
  type BoardColumn,
  COLUMN_ORDER,
  comparePlaces,
  placeIn,
  statesIn,
} from '../../core/board.ts'
import type { Board } from '../../core/shapes/board.ts'
import type { AnswerOf } from '../../core/shapes/common.ts'
import { TASK_STATES } from '../../core/states.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { BoardFilter, CardRow } from '../../store/server-store.ts'
import { cardView } from './cards.ts'

/** The board of a workspace. */

interface AskedPage {
  /** Undefined: all columns, from their beginning. */
  column?: BoardColumn | undefined
  after: readonly number[] | null
  /** In each column; 0: only counts. */
  limit: number
}

export async function readBoard(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  filter: BoardFilter,
  { column, after, limit }: AskedPage,
  cursorOf: (column: BoardColumn, place: readonly number[]) => string,
): Promise<AnswerOf<typeof Board>> {
  const columns = column === undefined ? BOARD_COLUMNS : [column]
  const read = await kernel.store.board.read(workspaceId, filter, {
    columns,
    after,
    // One more shows whether there is another page.
    limit: limit === 0 ? 0 : limit + 1,
  })
  const placedIn = new Map(columns.map((name) => [name, [] as { card: CardRow; place: number[] }[]]))
  for (const card of read.cards) {
    const name = TASK_STATES[card.state].board
    placedIn.get(name)?.push({ card, place: placeIn(name, card) })
  }
  const columnView = (name: BoardColumn) => {
    const placed = placedIn.get(name)!.sort((a, b) => comparePlaces(a.place, b.place))
    const shown = placed.slice(0, limit)
    return {
      count: statesIn(name).reduce((sum, state) => sum + (read.counts[state] ?? 0), 0),
      items: shown.map(({ card }) => cardView(card)),
      sort: COLUMN_ORDER[name],
      nextCursor: placed.length > limit ? cursorOf(name, shown.at(-1)!.place) : null,
    }
  }
  return {
    columns: Object.fromEntries(columns.map((name) => [name, columnView(name)])),
    counts: read.counts,
    isDoneBounded: read.isDoneBounded,
    seq: read.seq,
  }
}
