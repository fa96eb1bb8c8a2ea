import { Refused } from '../core/errors.ts'
import type { Committed, Store } from '../store/store.ts'

/** Notifications of commits on other nodes may be lost, so waiting callers also poll this often. */
const POLL_MS = 1_000

/** A caller that waits for an answer. */
export interface Waiter {
  /** Fires when the caller no longer waits. If the reason is a refusal, that is the answer. */
  gone: AbortSignal
  /** Called after each wait, before anything else: throws a refusal when the caller is no longer authorized. */
  confirm?: (() => Promise<void>) | undefined
}

/** The answer to a caller that no longer waits: empty, or the refusal. */
export function unanswered<T>({ gone }: Waiter, nothing: T): T {
  if (gone.reason instanceof Refused) throw gone.reason
  return nothing
}

/** Lets callers wait for a commit without polling the database all the time. */
export class CommitWaiters {
  readonly #waiting = new Map<number, Set<() => void>>()
  readonly #stopListening: () => void
  isClosed = false

  constructor(store: Store, matches: (what: Parameters<Committed>[1]) => boolean) {
    this.#stopListening = store.onCommit((workspaceId, what) => {
      if (matches(what)) this.#wake(workspaceId)
    })
  }

  /** Resolves on a matching commit, on the next poll, after `forMs`, or when the caller disconnects. */
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
      const timer = setTimeout(done, Math.min(forMs, POLL_MS))
      gone.addEventListener('abort', done)
      waiting.add(done)
    })
  }

  /** Wakes all waiting callers; later calls return at once. */
  close(): void {
    this.isClosed = true
    this.#stopListening()
    for (const workspaceId of [...this.#waiting.keys()]) this.#wake(workspaceId)
  }

  #wake(workspaceId: number): void {
    for (const done of [...(this.#waiting.get(workspaceId) ?? [])]) done()
  }
}
