/** Timers take no more: a longer time would be over at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** When to stop: the time is over, or somebody said so. Whichever comes first is the reason. */
export class Deadline {
  stopped: 'timeout' | 'aborted' | null = null
  readonly #controller = new AbortController()
  readonly #asked: AbortSignal
  readonly #timer: NodeJS.Timeout | undefined

  /** A timeout of 0 never comes. */
  constructor(asked: AbortSignal, timeoutMs: number) {
    this.#asked = asked
    if (timeoutMs > 0)
      this.#timer = setTimeout(() => this.#stop('timeout'), Math.min(timeoutMs, LONGEST_TIMER_MS))
    asked.addEventListener('abort', this.#onAbort, { once: true })
    if (asked.aborted) this.#onAbort()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#asked.removeEventListener('abort', this.#onAbort)
  }

  #onAbort = () => this.#stop('aborted')

  #stop(why: 'timeout' | 'aborted'): void {
    if (this.stopped) return
    this.stopped = why
    this.close()
    this.#controller.abort()
  }
}
