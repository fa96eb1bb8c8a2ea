import { z } from 'zod'
import { wantedId } from '../../door/asked.ts'
import { actsOf } from '../../door/door.ts'
import { readCursor, writeCursor } from '../../door/paging.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { BoardFilter, CardRow } from '../../door/server-store.ts'
import type { Caller } from '../../kernel/kernel.ts'
import { namedProject } from '../../kinds/project/acts.ts'
import { Refused } from '../../pure/errors.ts'
import { LATEST_MS, valuesOf } from '../../pure/paging.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { TASK_STATES } from '../../pure/states.ts'
import { actOnTasks } from './acts/act.ts'
import { cardsOf, cardView } from './acts/cards.ts'
import * as api from './api.ts'
import { BOARD_COLUMNS, type BoardColumn, COLUMN_ORDER, comparePlaces, placeIn, statesIn } from './columns.ts'
import type { Board } from './shapes.ts'

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
      nextCursor: placed.length > limit ? cursorAt(name, shown.at(-1)!.place) : null,
    }
  }
  return {
    columns: Object.fromEntries(columns.map((name) => [name, columnView(name)])),
    counts: read.counts,
    isDoneBounded: read.isDoneBounded,
    seq: read.seq,
  }
}

type Cursor = [BoardColumn, ...number[]]
const Moment = z.int().min(-LATEST_MS).max(LATEST_MS)
const Id = z.int()
const Inbox = z.tuple([z.literal('inbox'), z.int().min(-10).max(-1), Moment, Id])
const Other = (column: BoardColumn) => z.tuple([z.literal(column), Moment, Id])

/** Each column has its own order, and so its own cursor. */
const cursorOf = (column: BoardColumn) => valuesOf<Cursor>(column === 'inbox' ? Inbox : Other(column))

const cursorAt = (column: BoardColumn, place: readonly number[]) =>
  writeCursor(cursorOf(column), [column, ...place])

function placeOf(column: BoardColumn | undefined, cursor: string | undefined): number[] | null {
  if (cursor === undefined) return null
  if (column === undefined)
    throw Refused.field('VALIDATION_FAILED', 'cursor', 'continues one column, which "column" must name')
  const [, ...place] = readCursor(cursorOf(column), cursor)
  return place
}

export const boardActs = actsOf(api)({
  readBoard: async ({ kernel }, call) => {
    const { query, caller } = call
    const filter = {
      missionId: wantedId(query.mission),
      projectId: await namedProject(kernel, caller, query.project),
      agent: query.agent,
      tag: query.tag,
      text: query.q,
    }
    const { column, cursor, counts } = query
    const limit = counts ? 0 : call.page.limit
    return readBoard(kernel, caller, filter, { column, after: placeOf(column, cursor), limit })
  },
  readCards: ({ kernel }, { body, caller }) => cardsOf(kernel, caller, body.ids),
  actOnMany: ({ kernel }, { body, caller }) => actOnTasks(kernel, caller, body),
})
