/** The limit of timers: a longer one would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Stops at a timeout or when a signal aborts. The first of both is the reason. */
export class Deadline {
  stopped: 'timeout' | 'aborted' | null = null
  readonly #controller = new AbortController()
  readonly #abort: AbortSignal
  readonly #timer: NodeJS.Timeout | undefined

  /** A timeout of 0 means none. */
  constructor(abort: AbortSignal, timeoutMs: number) {
    this.#abort = abort
    if (timeoutMs > 0)
      this.#timer = setTimeout(() => this.#stop('timeout'), Math.min(timeoutMs, LONGEST_TIMER_MS))
    abort.addEventListener('abort', this.#onAbort, { once: true })
    if (abort.aborted) this.#onAbort()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#abort.removeEventListener('abort', this.#onAbort)
  }

  #onAbort = () => this.#stop('aborted')

  #stop(why: 'timeout' | 'aborted'): void {
    if (this.stopped) return
    this.stopped = why
    this.close()
    this.#controller.abort()
  }
}
