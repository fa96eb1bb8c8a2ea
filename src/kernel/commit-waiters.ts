import { Refused } from '../core/errors.ts'
import type { Committed, Store } from '../store/store.ts'

/** Commits of other nodes are told by notices, which may be lost; so waiting callers also look again this often. */
const LOOK_AGAIN_MS = 1_000

/** Somebody who waits for an answer. */
export interface Waiter {
  /** Fires when nobody waits for it any more. With a refusal for a reason, that is the answer. */
  gone: AbortSignal
  /** Asked after each wait, before anything is done: refuses when the caller may no longer ask. */
  confirm?: (() => Promise<void>) | undefined
}

/** For whoever waits no longer: nothing, or the refusal. */
export function unanswered<T>({ gone }: Waiter, nothing: T): T {
  if (gone.reason instanceof Refused) throw gone.reason
  return nothing
}

/** Lets callers wait for something to be committed without asking the database again and again. */
export class CommitWaiters {
  readonly #waiting = new Map<number, Set<() => void>>()
  readonly #stopListening: () => void
  isClosed = false

  constructor(store: Store, isIt: (what: Parameters<Committed>[1]) => boolean) {
    this.#stopListening = store.onCommit((workspaceId, what) => {
      if (isIt(what)) this.#wake(workspaceId)
    })
  }

  /** Resolves when it may have come, when `forMs` is over, or when the caller has gone. */
  next(workspaceId: number, forMs: number, gone: AbortSignal): Promise<void> {
    if (this.isClosed) return Promise.resolve()
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(workspaceId) ?? new Set()
      this.#waiting.set(workspaceId, waiting)
      const done = () => {
        clearTimeout(timer)
        gone.removeEventListener('abort', done)
        waiting.delete(done)
        if (waiting.size === 0 && this.#waiting.get(workspaceId) === waiting)
          this.#waiting.delete(workspaceId)
        resolve()
      }
      const timer = setTimeout(done, Math.min(forMs, LOOK_AGAIN_MS))
      gone.addEventListener('abort', done)
      waiting.add(done)
    })
  }

  /** Everybody who waits is sent home, and nobody waits any more. */
  close(): void {
    this.isClosed = true
    this.#stopListening()
    for (const workspaceId of [...this.#waiting.keys()]) this.#wake(workspaceId)
  }

  #wake(workspaceId: number): void {
    for (const done of [...(this.#waiting.get(workspaceId) ?? [])]) done()
  }
}
