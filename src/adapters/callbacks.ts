import type { CallbackMessage } from '../core/shapes/callbacks.ts'
import { Deadline } from './deadline.ts'

/**
 * Messages of agents that answer later, on their way to the waiting run. They are kept in memory only: a result is safe only
 * once the end of the run is recorded, and the documentation for agents must say so.
 */

/** `unknown_run`: no run waits for it on this node (any more). `over`: it has its result. `busy`: too many messages. */
export type Delivery = 'taken' | 'unknown_run' | 'over' | 'busy'

const MOST_WAITING = 100

/** The messages of one run. */
export class Expected {
  readonly #waiting: CallbackMessage[] = []
  #wake: () => void = () => undefined
  #isOver = false
  readonly #onClose: () => void

  constructor(onClose: () => void) {
    this.#onClose = onClose
  }

  /** The next message in order of arrival; null after the timeout or when the signal aborts. */
  async next(waitMs: number, signal: AbortSignal): Promise<CallbackMessage | null> {
    if (this.#waiting.length === 0 && !signal.aborted) await this.#nextMessage(waitMs, signal)
    return signal.aborted ? null : (this.#waiting.shift() ?? null)
  }

  close(): void {
    this.#onClose()
  }

  put(message: CallbackMessage): Delivery {
    if (this.#isOver) return 'over'
    this.#isOver = message.kind !== 'heartbeat'
    if (!this.#isOver && this.#waiting.length >= MOST_WAITING) return 'busy'
    this.#waiting.push(message)
    this.#wake()
    return 'taken'
  }

  async #nextMessage(waitMs: number, signal: AbortSignal): Promise<void> {
    const deadline = new Deadline(signal, waitMs)
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      deadline.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    deadline.close()
  }
}

export class Callbacks {
  readonly #expected = new Map<string, Expected>()

  /** Keeps the messages for this run from now on until it is closed. */
  expect(runId: string): Expected {
    const expected = new Expected(() => {
      if (this.#expected.get(runId) === expected) this.#expected.delete(runId)
    })
    this.#expected.set(runId, expected)
    return expected
  }

  deliver(runId: string, message: CallbackMessage): Delivery {
    return this.#expected.get(runId)?.put(message) ?? 'unknown_run'
  }
}
