import { TASK_STATES, type TaskState } from '../../../src/pure/states.ts'
import {
  BOARD_COLUMNS,
  type BoardColumn,
  comparePlaces,
  placeIn,
  statesIn,
} from '../../../src/views/board/columns.ts'
import { type CardFilter, matches } from '../../../src/views/board/filter.ts'
import type { Card } from './card.ts'
import type { ShownCard } from './pending-acts.ts'

/** The columns of one filtered board: the loaded ids, in the order of the server. */

/** The column it is shown in, which an act that is not answered yet may have changed. */
export const columnOf = ({ state, pending }: ShownCard): BoardColumn =>
  pending?.column ?? TASK_STATES[state].board

/** What a column shows. A new value whenever something in it changed. */
export interface ColumnView {
  readonly ids: readonly string[]
  /** Count of all its tasks, loaded or not. */
  readonly count: number
  readonly hasMore: boolean
  /** Counts of all its tasks by state. */
  readonly states: Partial<Record<TaskState, number>>
}

interface Placed {
  readonly id: string
  readonly place: readonly number[]
}

interface Column {
  placed: Placed[]
  /** Where the loaded part ends; null: all of it is loaded. */
  end: readonly number[] | null
  cursor: string | null
  /** How many came in pages that the user scrolled to. */
  paged: number
}

export interface ReadColumn {
  items: readonly Card[]
  nextCursor: string | null
}

/** At most this many that came by events are kept besides those asked for: a column of finished tasks would grow forever. */
const MOST_BROUGHT = 2_000
const BROUGHT_AFTER_TRIM = 1_000

const emptyColumn = (): Column => ({ placed: [], end: null, cursor: null, paged: 0 })
const NO_COLUMN: ColumnView = { ids: [], count: 0, hasMore: false, states: {} }

export class BoardList {
  readonly filter: CardFilter
  readonly #columns = new Map<BoardColumn, Column>(BOARD_COLUMNS.map((name) => [name, emptyColumn()]))
  readonly #where = new Map<string, { column: BoardColumn; place: readonly number[] }>()
  readonly #changed = new Set<BoardColumn>()
  #views = new Map<BoardColumn, ColumnView>()
  counts: Partial<Record<TaskState, number>> = {}

  constructor(filter: CardFilter) {
    this.filter = filter
  }

  has(id: string): boolean {
    return this.#where.has(id)
  }

  get size(): number {
    return this.#where.size
  }

  ids(): Iterable<string> {
    return this.#where.keys()
  }

  /** A page from the server. A first page replaces what is loaded of its column. */
  load(name: BoardColumn, { items, nextCursor }: ReadColumn, isFirst: boolean): void {
    const column = this.#columns.get(name)!
    if (isFirst) {
      for (const { id } of column.placed) this.#where.delete(id)
      column.placed = []
      column.paged = 0
    }
    column.paged += items.length
    const last = items.at(-1)
    column.cursor = nextCursor
    if (nextCursor === null) column.end = null
    else if (last) column.end = placeIn(name, last)
    this.#changed.add(name)
    for (const card of items) this.#insert(name, card)
  }

  cursorOf(name: BoardColumn): string | null {
    return this.#columns.get(name)!.cursor
  }

  /** How many must be read at least, so that another read has what is loaded now. */
  loadedIn(name: BoardColumn): number {
    return this.#columns.get(name)!.placed.length
  }

  /** The card changed: it is in another place, or is no longer part of this board. */
  place(card: ShownCard): void {
    this.drop(card.id)
    const name = columnOf(card)
    if (matches(card, this.filter) && this.#isLoaded(name, placeOf(name, card))) this.#insert(name, card)
  }

  drop(id: string): void {
    const where = this.#where.get(id)
    if (!where) return
    const { placed } = this.#columns.get(where.column)!
    const at = indexOf(placed, where.place)
    if (placed[at]?.id === id) placed.splice(at, 1)
    this.#where.delete(id)
    this.#changed.add(where.column)
  }

  /** Whether a task that moves here now would be in the loaded part; its card is not known. */
  mayShow(
    name: BoardColumn,
    known: { createdAt?: number; priority?: number; at: number; id: string },
  ): boolean {
    const { end } = this.#columns.get(name)!
    if (end === null || name === 'done') return true
    if (name !== 'inbox') return false
    const { priority, createdAt, id, at } = known
    if (priority === undefined || createdAt === undefined) return true
    return this.#isLoaded(name, placeIn(name, { id, priority, createdAt, stateSince: at, completedAt: null }))
  }

  setCounts(counts: Partial<Record<TaskState, number>>): void {
    this.counts = { ...counts }
    for (const name of BOARD_COLUMNS) this.#changed.add(name)
  }

  count(state: TaskState, change: 1 | -1): void {
    this.counts[state] = (this.counts[state] ?? 0) + change
    this.#changed.add(TASK_STATES[state].board)
  }

  view(name: BoardColumn): ColumnView {
    return this.#views.get(name) ?? NO_COLUMN
  }

  /** Makes new views of the columns that changed. Returns the ids that were dropped. */
  flush(): { changed: BoardColumn[]; dropped: string[] } {
    const changed = [...this.#changed]
    this.#changed.clear()
    const dropped = changed.flatMap((name) => this.#trim(this.#columns.get(name)!))
    if (changed.length > 0) this.#views = new Map(this.#views)
    for (const name of changed) {
      const { placed, end } = this.#columns.get(name)!
      const states = Object.fromEntries(statesIn(name).map((state) => [state, this.counts[state] ?? 0]))
      const count = Object.values(states).reduce((sum, tasks) => sum + tasks, 0)
      this.#views.set(name, { ids: placed.map(({ id }) => id), count, hasMore: end !== null, states })
    }
    return { changed, dropped }
  }

  #isLoaded(name: BoardColumn, place: readonly number[]): boolean {
    const { end } = this.#columns.get(name)!
    return end === null || comparePlaces(place, end) <= 0
  }

  #insert(name: BoardColumn, card: Card): void {
    const place = placeOf(name, card)
    this.drop(card.id)
    const { placed } = this.#columns.get(name)!
    placed.splice(indexOf(placed, place), 0, { id: card.id, place })
    this.#where.set(card.id, { column: name, place })
    this.#changed.add(name)
  }

  #trim(column: Column): string[] {
    if (column.placed.length <= column.paged + MOST_BROUGHT) return []
    const dropped = column.placed.splice(column.paged + BROUGHT_AFTER_TRIM).map(({ id }) => id)
    for (const id of dropped) this.#where.delete(id)
    column.end = column.placed.at(-1)!.place
    // The server gives cursors only with pages: the column is read again when the user scrolls that far.
    column.cursor = null
    return dropped
  }
}

/** A card that is shown in a column it has not reached yet has no end time. */
const placeOf = (name: BoardColumn, card: Card) =>
  placeIn(
    name,
    name === 'done' ? { ...card, completedAt: card.completedAt ?? Number.MAX_SAFE_INTEGER } : card,
  )

/** Where a place is, or would be. */
function indexOf(placed: readonly Placed[], place: readonly number[]): number {
  let low = 0
  let high = placed.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (comparePlaces(placed[middle]!.place, place) < 0) low = middle + 1
    else high = middle
  }
  return low
}
