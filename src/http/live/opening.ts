/** The longest time that a timer can be set to. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Something that lasts and was opened with a key or the token of a run: a stream, or a request that waits. It ends with it. */
export class Opening {
  readonly isStream: boolean
  /** Whether it was found to be of a run that is over. */
  isOverdue = false
  /** Whether its key would still open it: refuses when not. */
  readonly confirm: () => Promise<void>
  readonly #ended = new AbortController()
  /** Fires when it must end; with the refusal to answer with, when that is because of its key. */
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

  /** Nothing more comes of it. */
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
