import { Refused } from '../pure/errors.ts'
import type { Committed, Store } from './store/store.ts'

/**
 * Notifications of commits on other nodes may be lost, and not every commit that lets a caller proceed is announced as one. So
 * the log of each workspace is looked at this often, once for all callers that wait there.
 */
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

/** The callers that wait in one workspace. */
interface Waiting {
  readonly callers: Set<() => void>
  /** The end of the log when it was last looked at; callers have asked since. Null: not known. */
  lastSeq: number | null
}

/** Lets callers wait for a commit. A waiting caller costs one timer. */
export class CommitWaiters {
  readonly #store: Store
  readonly #waiting = new Map<number, Waiting>()
  readonly #stopListening: () => void
  #timer: NodeJS.Timeout | null = null
  isClosed = false

  constructor(store: Store, matches: (what: Parameters<Committed>[1]) => boolean) {
    this.#store = store
    this.#stopListening = store.onCommit((workspaceId, what) => {
      if (matches(what)) this.#wake(workspaceId)
    })
  }

  /**
   * Resolves on a matching commit, within a second of any other commit in the workspace, after `forMs`, or when the caller
   * disconnects. The first wait in a workspace ends after a second in any case: the log may have grown before it was looked
   * at.
   */
  next(workspaceId: number, forMs: number, gone: AbortSignal): Promise<void> {
    if (this.isClosed) return Promise.resolve()
    return new Promise((resolve) => {
      const { callers } = this.#waitingIn(workspaceId)
      const done = () => {
        clearTimeout(timer)
        gone.removeEventListener('abort', done)
        callers.delete(done)
        resolve()
      }
      const timer = setTimeout(done, forMs)
      gone.addEventListener('abort', done)
      callers.add(done)
    })
  }

  /** Wakes all waiting callers; later calls return at once. */
  close(): void {
    this.isClosed = true
    this.#stopListening()
    this.#stopPolling()
    for (const workspaceId of [...this.#waiting.keys()]) this.#wake(workspaceId)
  }

  #wake(workspaceId: number): void {
    for (const done of [...(this.#waiting.get(workspaceId)?.callers ?? [])]) done()
  }

  /** Kept until a poll finds no waiting caller: a caller that is woken usually asks and waits again at once. */
  #waitingIn(workspaceId: number): Waiting {
    const known = this.#waiting.get(workspaceId)
    if (known) return known
    const waiting: Waiting = { callers: new Set(), lastSeq: null }
    this.#waiting.set(workspaceId, waiting)
    this.#timer ??= setInterval(() => this.#poll(), POLL_MS).unref()
    return waiting
  }

  #stopPolling(): void {
    if (this.#timer) clearInterval(this.#timer)
    this.#timer = null
  }

  #poll(): void {
    for (const [workspaceId, waiting] of this.#waiting)
      if (waiting.callers.size === 0) this.#waiting.delete(workspaceId)
      else void this.#look(workspaceId, waiting)
    if (this.#waiting.size === 0) this.#stopPolling()
  }

  async #look(workspaceId: number, waiting: Waiting): Promise<void> {
    // When the log cannot be read, the callers find out on their own.
    const lastSeq = await this.#store.lastSeq(workspaceId).catch(() => null)
    if (lastSeq !== null && lastSeq === waiting.lastSeq) return
    waiting.lastSeq = lastSeq
    this.#wake(workspaceId)
  }
}
