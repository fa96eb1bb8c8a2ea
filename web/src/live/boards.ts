import type { AnswerOf } from '../../../src/pure/shapes.ts'
import { BOARD_COLUMNS, type BoardColumn } from '../../../src/views/board/columns.ts'
import type { CardFilter } from '../../../src/views/board/filter.ts'
import type { Board } from '../../../src/views/board/shapes.ts'
import type { Applied } from './apply.ts'
import { type Card, cardFrom, type LiveEvent } from './card.ts'
import type { Clock } from './clock.ts'
import { keyOf, OpenBoard } from './open-board.ts'
import type { ShownCard } from './pending-acts.ts'
import type { Reading } from './recent-events.ts'
import { Retry } from './retry.ts'

/** All boards that are open: reads them, and keeps them by events. */

type BoardAnswer = AnswerOf<typeof Board>
export interface BoardQuery extends CardFilter {
  column?: BoardColumn
  cursor?: string
  limit?: string
  counts?: '1'
}

interface BoardDeps {
  clock: Clock
  readBoard: (query: BoardQuery) => Promise<BoardAnswer>
  beginReading: () => Reading
  /** Keeps a card that was read, unless a newer one is known. */
  keep: (card: Card, seq: number) => void
  shown: (id: string) => ShownCard | undefined
  /** Applies events that arrived during a read to what was read. */
  replay: (events: readonly LiveEvent[]) => void
  flush: () => void
  /** What the board shows is old until it is read at that time; null: it is not. */
  late: (board: OpenBoard, at: number | null) => void
}

const FIRST_PAGE = 50
const NEXT_PAGE = 100
const MOST_IN_PAGE = 1_000
/** Counts that events do not contain are read this often at most. */
const COUNTS_EVERY_MS = 1_000

export class Boards {
  readonly #deps: BoardDeps
  readonly #open = new Map<string, OpenBoard>()
  readonly #loads = new Map<OpenBoard, number>()
  readonly #countTimers = new Map<OpenBoard, unknown>()
  readonly #retries = new Map<OpenBoard, Retry>()

  constructor(deps: BoardDeps) {
    this.#deps = deps
  }

  /** Before it is on the screen, it may be asked for more than once: a page is drawn before it is shown. */
  board(filter: CardFilter): OpenBoard {
    const key = keyOf(filter)
    const board = this.#open.get(key) ?? new OpenBoard(filter)
    this.#open.set(key, board)
    return board
  }

  watch(board: OpenBoard): () => void {
    const key = keyOf(board.filter)
    this.#open.set(key, board)
    board.watchers += 1
    if (board.watchers === 1) {
      // Events were not applied while it was not on the screen.
      board.countedUpTo = Number.POSITIVE_INFINITY
      void this.load(board)
    }
    return () => {
      board.watchers -= 1
      if (board.watchers > 0) return
      this.#loads.delete(board)
      this.#recovered(board)
      this.#stopCounting(board)
      if (this.#open.get(key) === board) this.#open.delete(key)
    }
  }

  *#watched(): Iterable<OpenBoard> {
    for (const board of this.#open.values()) if (board.watchers > 0) yield board
  }

  /** Whether one of them shows this task. */
  has(id: string): boolean {
    for (const board of this.#watched()) if (board.list.has(id)) return true
    return false
  }

  /** True: an open board may show the task, whose card is not known. */
  applied(event: LiveEvent, applied: Applied, shown: ShownCard | undefined): boolean {
    let wantsCard = false
    for (const board of this.#watched()) {
      const { card, counts } = board.applied(event, applied, shown)
      if (counts) this.#wantCounts(board)
      wantsCard ||= card
    }
    return wantsCard
  }

  cardRead(before: Card | undefined, shown: ShownCard, isAskedFor: boolean): void {
    for (const board of this.#watched()) if (board.read(before, shown, isAskedFor)) this.#wantCounts(board)
  }

  /** Boards on which this card would be new are read again; on the others it gets its place, or leaves. */
  readAgainIfNew(before: Card | undefined, shown: ShownCard): void {
    for (const board of this.#watched())
      if (!board.list.has(shown.id) && board.belongs(shown)) void this.load(board)
      else if (board.read(before, shown, false)) this.#wantCounts(board)
  }

  /** An act moves a card before its answer, or the card goes back. */
  replace(shown: ShownCard): void {
    for (const board of this.#watched()) if (board.list.has(shown.id)) board.list.place(shown)
  }

  flush(): string[] {
    return [...this.#watched()].flatMap((board) => board.flush())
  }

  /** What is shown cannot be continued: all of it is read again, and stays on the screen until then. */
  readAgain(): void {
    for (const board of this.#watched()) {
      board.countedUpTo = Number.POSITIVE_INFINITY
      void this.load(board)
    }
  }

  /** The longest page of each column: all of most boards. */
  loadLong = (board: OpenBoard): Promise<void> => this.load(board, MOST_IN_PAGE)

  async load(board: OpenBoard, atLeast = FIRST_PAGE): Promise<void> {
    const { readBoard, replay } = this.#deps
    const turn = (this.#loads.get(board) ?? 0) + 1
    this.#loads.set(board, turn)
    const loaded = Math.max(atLeast, ...BOARD_COLUMNS.map((name) => board.list.loadedIn(name)))
    const limit = String(Math.min(loaded, MOST_IN_PAGE))
    const wanted = board.countsWanted
    const reading = this.#deps.beginReading()
    try {
      const answer = await readBoard({ ...board.filter, limit })
      // Another read of it has begun since.
      if (this.#loads.get(board) !== turn) return
      for (const name of BOARD_COLUMNS) this.#take(board, name, answer, true)
      board.setCounts(answer.counts, answer.seq, wanted)
      board.status = 'ready'
      board.error = null
      this.#recovered(board)
      replay(reading.after(answer.seq))
      // Newer counts may have been read while this read was on its way.
      if (board.areCountsWanted) this.#countSoon(board)
      this.#deps.flush()
      board.notify()
    } catch (error) {
      if (this.#loads.get(board) === turn) this.#failed(board, error)
    } finally {
      reading.end()
    }
  }

  /** What was read once stays on the screen, and is read again automatically. */
  #failed(board: OpenBoard, error: unknown): void {
    if (board.status !== 'ready') {
      board.setStatus('failed', error)
      return
    }
    const { clock, late } = this.#deps
    const retry = this.#retries.get(board) ?? new Retry(clock, (at) => late(board, at))
    this.#retries.set(board, retry)
    retry.failed(() => void this.load(board))
  }

  #recovered(board: OpenBoard): void {
    this.#retries.get(board)?.done()
    this.#retries.delete(board)
  }

  async loadMore(board: OpenBoard, column: BoardColumn, pageSize = NEXT_PAGE): Promise<void> {
    const cursor = board.list.cursorOf(column)
    // A column without a cursor lost its end to save memory: it is read from the beginning.
    const limit = cursor === null ? Math.min(board.list.loadedIn(column) + pageSize, MOST_IN_PAGE) : pageSize
    const query = { ...board.filter, column, limit: String(limit), ...(cursor !== null && { cursor }) }
    const turn = this.#loads.get(board)
    const reading = this.#deps.beginReading()
    try {
      const answer = await this.#deps.readBoard(query)
      if (this.#loads.get(board) !== turn) return
      this.#take(board, column, answer, cursor === null)
      this.#deps.replay(reading.after(answer.seq))
      this.#deps.flush()
    } finally {
      reading.end()
    }
  }

  #take(board: OpenBoard, name: BoardColumn, { columns, seq }: BoardAnswer, isFirst: boolean): void {
    const page = columns[name]
    if (!page) return
    const cards = page.items.map(cardFrom)
    for (const card of cards) this.#deps.keep(card, seq)
    board.list.load(name, { items: cards, nextCursor: page.nextCursor }, isFirst)
    // Cards that are newer than the answer, or have a pending act, are elsewhere.
    for (const card of cards) {
      const shown = this.#deps.shown(card.id)
      if (shown && shown !== card) board.list.place(shown)
    }
  }

  #wantCounts(board: OpenBoard): void {
    board.countsWanted += 1
    this.#countSoon(board)
  }

  #countSoon(board: OpenBoard): void {
    if (this.#countTimers.has(board)) return
    const timer = this.#deps.clock.setTimeout(() => void this.#readCounts(board), COUNTS_EVERY_MS)
    this.#countTimers.set(board, timer)
  }

  #stopCounting(board: OpenBoard): void {
    this.#deps.clock.clearTimeout(this.#countTimers.get(board))
    this.#countTimers.delete(board)
  }

  async #readCounts(board: OpenBoard): Promise<void> {
    const turn = this.#loads.get(board)
    const wanted = board.countsWanted
    const reading = this.#deps.beginReading()
    try {
      const { counts, seq } = await this.#deps.readBoard({ ...board.filter, counts: '1' })
      // Another read of the board has begun since, and its answer has counts too.
      if (this.#loads.get(board) !== turn) return
      board.setCounts(counts, seq, wanted)
      this.#deps.replay(reading.after(seq))
      this.#deps.flush()
    } catch {
      // Nothing is lost: they are still wanted.
    } finally {
      reading.end()
      this.#countTimers.delete(board)
      // What was wanted while this read was on its way may be in no answer.
      if (board.watchers > 0 && board.areCountsWanted) this.#countSoon(board)
    }
  }
}
