import type { Callbacks, Expected, Heard } from '../adapters/callbacks.ts'
import type { RunMessage, RunStore } from '../kernel/store/run-store.ts'
import { StoreUnavailable } from '../kernel/store/store.ts'
import { callbacksRead, expectCallbacks } from '../kinds/run/rules/callbacks.ts'
import type { StoreRetry } from './store-retry.ts'
import { sleep, type Timers } from './timers.ts'

/** Without a hint, the messages of a waiting run are read this often. */
const POLL_MS = 2_000

/** A run on this node whose agent may answer later. */
interface Waiting {
  workspaceId: number
  /** Called when another node has the run. */
  lost: () => void
  isLeft: boolean
  wake: () => void
}

/**
 * What agents that answer later have sent, read from the database: from any node that took a message, and also after a restart. The
 * answer stays there until the end of the run is recorded.
 */
export class RunCallbacks implements Callbacks {
  readonly #store: RunStore
  readonly #nodeId: string
  readonly #timers: Timers
  readonly #storeRetry: StoreRetry
  readonly #waiting = new Map<string, Waiting>()

  constructor(
    store: RunStore,
    { nodeId, timers, storeRetry }: { nodeId: string; timers: Timers; storeRetry: StoreRetry },
  ) {
    this.#store = store
    this.#nodeId = nodeId
    this.#timers = timers
    this.#storeRetry = storeRetry
  }

  /** A run of this node, before its adapter is called. Returns what ends it. */
  open(runId: string, workspaceId: number, lost: () => void): () => void {
    const waiting = { workspaceId, lost, isLeft: false, wake: () => undefined }
    this.#waiting.set(runId, waiting)
    return () => {
      if (this.#waiting.get(runId) === waiting) this.#waiting.delete(runId)
    }
  }

  /** There may be a message for this run. */
  wake(runId: string): void {
    this.#waiting.get(runId)?.wake()
  }

  /** The run is left to other nodes. */
  leave(runId: string): void {
    const waiting = this.#waiting.get(runId)
    if (!waiting) return
    waiting.isLeft = true
    waiting.wake()
  }

  async expect(runId: string): Promise<Expected> {
    const waiting = this.#waiting.get(runId)
    if (!waiting) throw new Error(`${runId} is not a run of this node.`)
    await this.#storeRetry.whileUnavailable(() =>
      this.#store.transact(waiting.workspaceId, expectCallbacks(runId)),
    )
    return new StoredMessages(this.#store, { runId, nodeId: this.#nodeId, waiting, timers: this.#timers })
  }
}

/** For adapters, which are created before the database is open. */
export class LaterCallbacks implements Callbacks {
  #runs: RunCallbacks | null = null

  connect(runs: RunCallbacks): void {
    this.#runs = runs
  }

  expect(runId: string): Promise<Expected> {
    return this.#runs!.expect(runId)
  }
}

interface Reader {
  runId: string
  nodeId: string
  waiting: Waiting
  timers: Timers
}

class StoredMessages implements Expected {
  readonly #store: RunStore
  readonly #reader: Reader
  #unread: RunMessage[] = []
  /** The last one that was handed out. */
  #last = 0
  #marked = 0

  constructor(store: RunStore, reader: Reader) {
    this.#store = store
    this.#reader = reader
  }

  async next(waitMs: number, signal: AbortSignal): Promise<Heard | null> {
    const { waiting, timers } = this.#reader
    const until = timers.now() + waitMs
    while (!signal.aborted && !waiting.isLeft) {
      const hinted = this.#hint(signal)
      const isRead = this.#unread.length > 0 || (await this.#read())
      const [first] = this.#unread.splice(0, 1)
      if (first) {
        this.#last = first.number
        return first.message
      }
      if (waiting.isLeft) break
      // A silence counts only if it was listened to: the database may have been unreachable.
      if (isRead && timers.now() >= until) return null
      await hinted(isRead ? Math.min(POLL_MS, Math.max(1, until - timers.now())) : POLL_MS)
    }
    return waiting.isLeft ? { kind: 'left' } : null
  }

  close(): void {
    this.#reader.waiting.wake = () => undefined
  }

  /** From now on hints are noticed, also those that come before the wait. */
  #hint(signal: AbortSignal): (ms: number) => Promise<void> {
    const { waiting, timers } = this.#reader
    const hinted = new AbortController()
    waiting.wake = () => hinted.abort()
    return (ms) => sleep(timers, ms, AbortSignal.any([signal, hinted.signal]))
  }

  /** False: the database is unreachable. */
  async #read(): Promise<boolean> {
    const { runId, nodeId, waiting } = this.#reader
    const { workspaceId } = waiting
    try {
      // Marked when they are handled: after a crash they are handed out again.
      if (this.#last > this.#marked) await this.#store.transact(workspaceId, callbacksRead(runId, this.#last))
      this.#marked = this.#last
      const found = await this.#store.runs.messages(workspaceId, runId, this.#last)
      if (found.nodeId === nodeId) this.#unread = found.messages
      else {
        waiting.isLeft = true
        waiting.lost()
      }
      return true
    } catch (error) {
      if (error instanceof StoreUnavailable) return false
      throw error
    }
  }
}
