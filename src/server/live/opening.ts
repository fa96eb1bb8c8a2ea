/** The longest delay of a timer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** A long-lived request (a stream, or a request that waits) opened with a key or run token. It ends with its key or run. */
export class Opening {
  readonly isStream: boolean
  /** The browser session that it was opened in. */
  sessionId: string | null = null
  /** Whether a check found that its run has ended. */
  isOverdue = false
  /** Throws a refusal when its key is no longer valid. */
  readonly confirm: () => Promise<void>
  readonly #ended = new AbortController()
  /** Fires when it must end; the reason is the refusal to send, if its key ended. */
  readonly over = this.#ended.signal
  readonly #timer: NodeJS.Timeout | undefined
  readonly #done: (() => void)[] = []
  #isClosed = false

  constructor(confirm: () => Promise<void>, isStream: boolean, leftMs: number, ending: () => Error) {
    this.confirm = confirm
    this.isStream = isStream
    if (leftMs < LONGEST_TIMER_MS) this.#timer = setTimeout(() => this.end(ending()), leftMs).unref()
  }

  end(reason?: Error): void {
    this.#ended.abort(reason)
  }

  /** The request is finished. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const done of this.#done) done()
  }

  onClosed(done: () => void): void {
    if (this.#isClosed) done()
    else this.#done.push(done)
  }
}
