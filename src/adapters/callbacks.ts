import type { CallbackMessage } from '../core/shapes/callbacks.ts'
import { Deadline } from './deadline.ts'

/**
 * What agents that answer later say, on its way to the run that waits for it. It is kept in memory only: whoever lets agents
 * speak here should tell them that their result is in safe hands only when the run itself is on record as over.
 */

/** `unknown_run`: nobody waits for it, here or any more. `over`: its result came already. `busy`: it says too much at once. */
export type Delivery = 'taken' | 'unknown_run' | 'over' | 'busy'

const MOST_WAITING = 100

/** What a run waits for. */
export class Expected {
  readonly #waiting: CallbackMessage[] = []
  #wake: () => void = () => undefined
  #isOver = false
  readonly #onClose: () => void

  constructor(onClose: () => void) {
    this.#onClose = onClose
  }

  /** The next message, in the order they came; null when none came in time or the signal says to stop. */
  async next(waitMs: number, signal: AbortSignal): Promise<CallbackMessage | null> {
    if (this.#waiting.length === 0 && !signal.aborted) await this.#arrival(waitMs, signal)
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

  async #arrival(waitMs: number, signal: AbortSignal): Promise<void> {
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

  /** From now on until it is closed, what is said to this run is kept for it. */
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
