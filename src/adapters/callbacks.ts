import type { CallbackMessage } from '../kinds/run/shapes/callbacks.ts'

/** Messages of agents that answer later, on their way to the waiting run. */

/** `left`: the run continues without this node, which must not end it. */
export type Heard = CallbackMessage | { kind: 'left' }

/** The messages of one run. */
export interface Expected {
  /** The next message in order of arrival; null after a silence of this time, or when the signal aborts. */
  next(waitMs: number, signal: AbortSignal): Promise<Heard | null>
  close(): void
}

export interface Callbacks {
  /** Messages for this run are kept from now on. */
  expect(runId: string): Promise<Expected>
}
