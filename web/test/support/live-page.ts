import { BOARD_COLUMNS } from '../../../src/views/board/columns.ts'
import { type Card, cardFrom, type LiveEvent } from '../../src/live/card.ts'
import { Live } from '../../src/live/live.ts'
import type { OpenBoard } from '../../src/live/open-board.ts'
import type { WebSocketLike } from '../../src/live/socket.ts'
import { ManualClock } from './manual-clock.ts'
import type { ModelServer } from './model-server.ts'

/** A page on the model server, with a network that delays every answer and every frame as long as the test wants. */

export class FakeSocket implements WebSocketLike {
  onmessage: ((message: { data: unknown }) => void) | null = null
  onclose: ((close: { code: number }) => void) | null = null
  readonly sent: unknown[] = []
  readonly after: number
  isClosed = false

  constructor(after: number) {
    this.after = after
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text))
  }

  close(): void {
    this.isClosed = true
  }

  say(frame: unknown): void {
    this.onmessage?.({ data: JSON.stringify(frame) })
  }

  /** The other side, or the network, ends it. */
  end(code: number): void {
    this.isClosed = true
    this.onclose?.({ code })
  }
}

export class Refused extends Error {
  readonly status: number
  constructor(status: number) {
    super(`refused with ${status}`)
    this.status = status
  }
}

export class LivePage {
  readonly clock: ManualClock
  readonly sockets: FakeSocket[] = []
  readonly calls: string[] = []
  readonly live: Live
  /** What requests fail with. */
  failing: unknown = null
  isOnline = true
  isSignedOut = false
  /** How long an answer is on its way, each way. */
  delayMs: () => number = () => 0
  instance = 'one'
  readonly #server: ModelServer

  constructor(server: ModelServer, clock = new ManualClock()) {
    this.#server = server
    this.clock = clock
    this.live = new Live({
      begin: { head: server.seq, instance: this.instance, inboxCount: 0 },
      clock,
      isOnline: () => this.isOnline,
      signedOut: () => {
        this.isSignedOut = true
      },
      open: (_ticket, after) => {
        const socket = new FakeSocket(after)
        this.sockets.push(socket)
        return socket
      },
      requests: {
        session: () =>
          this.#answer('session', () => ({ head: server.seq, instance: this.instance, inboxCount: 0 })),
        ticket: () => this.#answer('ticket', () => 'ticket'),
        events: (after) => this.#answer('events', () => this.#eventsAfter(after)),
        readBoard: (query) => this.#answer(query.counts ? 'counts' : 'board', () => server.board(query)),
        readCards: (ids) => this.#answer('cards', () => server.cards(ids)),
      },
    })
  }

  get socket(): FakeSocket {
    return this.sockets.at(-1)!
  }

  async start(): Promise<void> {
    this.live.start()
    await this.clock.pass(0)
    this.hello()
    await this.clock.pass(0)
  }

  hello(): void {
    this.socket.say({ head: this.#server.seq, now: this.clock.now(), instance: this.instance })
  }

  /** All that the log has after what this socket was sent. */
  deliver(after: number): void {
    const events = this.#server.log.slice(after)
    if (events.length > 0) this.socket.say({ events, upTo: this.#server.seq })
  }

  board(filter = {}): OpenBoard {
    const board = this.live.world.boards.board(filter)
    this.live.world.boards.watch(board)
    return board
  }

  #eventsAfter(after: number): { items: LiveEvent[]; nextCursor: string | null } {
    return { items: this.#server.log.slice(after), nextCursor: null }
  }

  /** The answer is made somewhere between the request and its arrival. */
  async #answer<T>(name: string, make: () => T): Promise<T> {
    this.calls.push(name)
    await this.#wait()
    if (this.failing) throw this.failing
    const answer = make()
    await this.#wait()
    return answer
  }

  #wait(): Promise<void> | undefined {
    const ms = this.delayMs()
    return ms === 0 ? undefined : new Promise((resolve) => this.clock.setTimeout(resolve, ms))
  }
}

/** What a board shows, in the form of what the server would answer for the same filter. */
export function onScreen(page: LivePage, board: OpenBoard) {
  return BOARD_COLUMNS.map((name) => {
    const { ids, count } = board.column(name)
    const cards = ids.map((id) => page.live.world.shown(id))
    return { name, count, cards: cards.map((card) => card && comparable(card)) }
  })
}

/** What the server would answer, as far as the board has loaded it. */
export function onServer(server: ModelServer, board: OpenBoard) {
  const answer = server.board({ ...board.filter, limit: '100000' })
  return BOARD_COLUMNS.map((name) => {
    const { count, items } = answer.columns[name]!
    const { ids, hasMore } = board.column(name)
    const loaded = hasMore ? items.slice(0, ids.length) : items
    return { name, count, cards: loaded.map((item) => comparable(cardFrom(item))) }
  })
}

/** All that a card shows. When a result is taken or time passes, fields change that are not shown in that state. */
const comparable = ({ updatedAt: _touched, resultDigest: _digest, ...card }: Card) => card
