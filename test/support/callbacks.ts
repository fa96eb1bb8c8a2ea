import type { Callbacks, Expected, Heard } from '../../src/adapters/callbacks.ts'
import { Deadline } from '../../src/adapters/deadline.ts'
import type { Delivery } from '../../src/kinds/run/rules/callbacks.ts'
import type { CallbackMessage } from '../../src/kinds/run/shapes/callbacks.ts'

/** Messages of agents that answer later, for tests of an adapter alone. Which of them are taken is decided elsewhere. */
export class CallbacksInMemory implements Callbacks {
  readonly #expected = new Map<string, Messages>()

  async expect(runId: string): Promise<Expected> {
    const expected = new Messages(() => this.#expected.delete(runId))
    this.#expected.set(runId, expected)
    return expected
  }

  deliver(runId: string, message: Heard): Delivery {
    const expected = this.#expected.get(runId)
    expected?.put(message)
    return expected ? 'taken' : 'unknown_run'
  }
}

class Messages implements Expected {
  readonly #waiting: Heard[] = []
  readonly close: () => void
  #wake: () => void = () => undefined

  constructor(close: () => void) {
    this.close = close
  }

  put(message: Heard): void {
    this.#waiting.push(message)
    this.#wake()
  }

  async next(waitMs: number, signal: AbortSignal): Promise<CallbackMessage | { kind: 'left' } | null> {
    if (this.#waiting.length === 0 && !signal.aborted) {
      const deadline = new Deadline(signal, waitMs)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        deadline.signal.addEventListener('abort', () => resolve(), { once: true })
      })
      deadline.close()
    }
    return signal.aborted ? null : (this.#waiting.shift() ?? null)
  }
}
