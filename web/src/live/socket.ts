import type { LiveEvent } from './card.ts'
import type { Clock } from './clock.ts'
import { type Frame, frameIn, type HeadFrame, type OutputChunk } from './frames.ts'
import type { Freshness } from './freshness.ts'
import { isRefused, isSignedOut } from './outcomes.ts'

/** The one connection of a page to the log of a workspace: opens, notices that it is dead, opens again. */

export interface WebSocketLike {
  onmessage: ((message: { data: unknown }) => void) | null
  onclose: ((close: { code: number }) => void) | null
  send(text: string): void
  close(): void
}

export interface SocketRequests {
  /** For one socket, valid for a short time. */
  ticket: () => Promise<string>
  /** Refused when the session is over. */
  session: () => Promise<unknown>
  events: (after: number) => Promise<{ items: readonly LiveEvent[]; nextCursor: string | null }>
}

interface SocketDeps {
  clock: Clock
  requests: SocketRequests
  open: (ticket: string, after: number) => WebSocketLike
  /** The last event that was taken. */
  last: () => number
  take: (events: readonly LiveEvent[]) => void
  /** `isFirst`: it is the first message of this socket. */
  head: (frame: HeadFrame, isFirst: boolean) => void
  output: (chunk: OutputChunk) => void
  freshness: (freshness: Freshness) => void
  signedOut: () => void
  isOnline: () => boolean
  /** The server's time. */
  now: () => number
}

const SHORTEST_WAIT_MS = 250
const LONGEST_WAIT_MS = 10_000
/** The server sends something every 15 seconds. */
const DEAD_AFTER_MS = 40_000
const HIDDEN_FOR_MS = 5 * 60_000
const POLL_MS = 2_000
/** While the log is polled, a socket is tried this often. */
const TRY_SOCKET_EVERY_MS = 60_000
const REFUSED_BEFORE_POLLING = 2
const SESSION_OVER = 4401
const ABNORMAL = 1006

export class EventSocket {
  readonly #deps: SocketDeps
  #socket: WebSocketLike | null = null
  /** Raised whenever another way of connecting begins: answers to earlier ones are dropped. */
  #turn = 0
  #timers = new Map<'again' | 'dead' | 'hidden' | 'poll', unknown>()
  #failures = 0
  #refusals = 0
  #isPolling = false
  #polledAt = 0
  #followed: readonly string[] = []
  #isStopped = true
  #isShown = true
  #staysWhileHidden = false
  /** Closed because the page is hidden. */
  #rests = false

  constructor(deps: SocketDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#isStopped = false
    void this.#connect()
  }

  stop(): void {
    this.#isStopped = true
    this.#drop()
    for (const name of [...this.#timers.keys()]) this.#cancel(name)
  }

  /** Everything after the last taken event is requested again. */
  restart(): void {
    if (this.#isStopped) return
    this.#drop()
    void this.#connect()
  }

  follow(runIds: readonly string[]): void {
    this.#followed = runIds
    this.#sendFollowed()
  }

  online(): void {
    this.#now()
  }

  offline(): void {
    this.#drop()
    this.#cancel('again')
    this.#cancel('poll')
    this.#deps.freshness({ kind: 'offline', since: this.#deps.now() })
  }

  shown(isShown: boolean): void {
    this.#isShown = isShown
    this.#restIfHidden()
    // An open connection stays; a waiting attempt starts at once.
    if (isShown && !this.#socket) this.#now()
  }

  staysWhileHidden(stays: boolean): void {
    this.#staysWhileHidden = stays
    this.#restIfHidden()
    if (stays && this.#rests) this.#now()
  }

  #restIfHidden(): void {
    this.#cancel('hidden')
    if (this.#isShown || this.#staysWhileHidden) return
    this.#after('hidden', HIDDEN_FOR_MS, () => {
      this.#rests = true
      this.#drop()
      this.#cancel('again')
      this.#cancel('poll')
      this.#deps.freshness({ kind: 'catching_up', behind: 0 })
    })
  }

  #now(): void {
    if (this.#isStopped || this.#socket) return
    this.#rests = false
    this.#failures = 0
    this.#refusals = 0
    this.#cancel('again')
    this.#cancel('poll')
    void this.#connect()
  }

  async #connect(): Promise<void> {
    const turn = ++this.#turn
    const { requests, open, last } = this.#deps
    // A request for a ticket may hang, too.
    this.#awaitNext()
    let ticket: string
    try {
      ticket = await requests.ticket()
    } catch (error) {
      if (turn === this.#turn) this.#failed(error)
      return
    }
    if (turn !== this.#turn || this.#isStopped) return
    const socket = open(ticket, last())
    this.#socket = socket
    let hasSpoken = false
    socket.onmessage = ({ data }) => {
      if (turn !== this.#turn) return
      const isFirst = !hasSpoken
      if (isFirst) this.#opened()
      hasSpoken = true
      this.#awaitNext()
      const frame = frameIn(data)
      if (frame) this.#heard(frame, isFirst)
    }
    socket.onclose = ({ code }) => {
      if (turn === this.#turn) void this.#closed(code, hasSpoken)
    }
    this.#awaitNext()
  }

  #opened(): void {
    this.#failures = 0
    this.#refusals = 0
    this.#isPolling = false
    this.#cancel('poll')
    this.#sendFollowed()
  }

  #heard(frame: Frame, isFirst: boolean): void {
    const { head, take, output } = this.#deps
    if ('head' in frame) head(frame, isFirst)
    else if ('events' in frame) take(frame.events)
    else if ('output' in frame) output(frame.output)
  }

  async #closed(code: number, hasSpoken: boolean): Promise<void> {
    this.#drop()
    if (code === SESSION_OVER) return this.#signOut()
    if (!hasSpoken) this.#refusals += 1
    const turn = this.#turn
    // Browsers do not say why a socket was refused or broke: the session says whether to try again.
    if (code === ABNORMAL || !hasSpoken) {
      this.#deps.freshness({ kind: 'again', at: this.#deps.now() })
      try {
        await this.#deps.requests.session()
      } catch (error) {
        if (turn === this.#turn) this.#failed(error)
        return
      }
      if (turn !== this.#turn) return
    }
    if (this.#refusals >= REFUSED_BEFORE_POLLING) this.#poll()
    else this.#again()
  }

  #failed(error: unknown): void {
    if (isSignedOut(error)) this.#signOut()
    else if (isRefused(error) && ++this.#refusals >= REFUSED_BEFORE_POLLING) this.#poll()
    else this.#again()
  }

  #signOut(): void {
    this.stop()
    this.#deps.freshness({ kind: 'signed_out' })
    this.#deps.signedOut()
  }

  #again(): void {
    const { clock, freshness, isOnline } = this.#deps
    if (this.#isStopped) return
    if (!isOnline()) {
      this.offline()
      return
    }
    const longest = Math.min(SHORTEST_WAIT_MS * 2 ** this.#failures, LONGEST_WAIT_MS)
    this.#failures += 1
    // The pages of a server that was restarted do not all come back at the same moment.
    const waitMs = longest * (0.5 + clock.random() / 2)
    freshness({ kind: 'again', at: this.#deps.now() + waitMs })
    this.#after('again', waitMs, () => void this.#connect())
  }

  #poll(): void {
    const { clock, freshness } = this.#deps
    this.#drop()
    this.#isPolling = true
    this.#polledAt = clock.now()
    freshness({ kind: 'polling' })
    void this.#pollOnce(this.#turn)
  }

  async #pollOnce(turn: number): Promise<void> {
    const { clock, requests, take, last } = this.#deps
    let isMore = false
    try {
      const { items, nextCursor } = await requests.events(last())
      if (turn !== this.#turn || this.#isStopped) return
      take(items)
      isMore = nextCursor !== null
    } catch (error) {
      if (turn !== this.#turn) return
      return isSignedOut(error) ? this.#signOut() : this.#again()
    }
    if (clock.now() - this.#polledAt >= TRY_SOCKET_EVERY_MS) {
      this.#refusals = REFUSED_BEFORE_POLLING - 1
      void this.#connect()
    } else this.#after('poll', isMore ? 0 : POLL_MS, () => void this.#pollOnce(turn))
  }

  get isPolling(): boolean {
    return this.#isPolling
  }

  #sendFollowed(): void {
    if (!this.#socket) return
    try {
      this.#socket.send(JSON.stringify({ output: this.#followed }))
    } catch {
      // The socket is not open yet: sent again with its first frame.
    }
  }

  #awaitNext(): void {
    this.#after('dead', DEAD_AFTER_MS, () => {
      this.#drop()
      this.#again()
    })
  }

  #drop(): void {
    this.#turn += 1
    const socket = this.#socket
    this.#socket = null
    this.#isPolling = false
    this.#cancel('dead')
    if (!socket) return
    socket.onmessage = null
    socket.onclose = null
    socket.close()
  }

  #after(name: 'again' | 'dead' | 'hidden' | 'poll', waitMs: number, run: () => void): void {
    this.#cancel(name)
    const timer = this.#deps.clock.setTimeout(() => {
      this.#timers.delete(name)
      run()
    }, waitMs)
    this.#timers.set(name, timer)
  }

  #cancel(name: 'again' | 'dead' | 'hidden' | 'poll'): void {
    this.#deps.clock.clearTimeout(this.#timers.get(name))
    this.#timers.delete(name)
  }
}
