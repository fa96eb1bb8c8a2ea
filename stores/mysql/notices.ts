import type { Committed } from '../../src/kernel/store/store.ts'
import type { Pool } from './connect.ts'
import { sql } from './sql.ts'

const LOOK_EVERY_MS = 250

/**
 * Notifies listeners of commits: of this process at once, of others when the counters show it. Neither server can push
 * notices, so the counters are polled, and only while there are listeners.
 */
export class Notices {
  readonly #pool: Pool
  readonly #listeners = new Set<Committed>()
  /** The last seq that listeners were notified of, by workspace. */
  readonly #notifiedUpTo = new Map<number, number>()
  #timer: NodeJS.Timeout | null = null
  #isFirstPoll = true
  #isClosed = false

  constructor(pool: Pool) {
    this.#pool = pool
  }

  listen(listener: Committed): () => void {
    this.#listeners.add(listener)
    if (this.#timer === null && !this.#isClosed) {
      this.#isFirstPoll = true
      this.#lookIn(0)
    }
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  /** Of this process. If commits of others before it are not reported yet, the counters will show both. */
  committed(workspaceId: number, what: Parameters<Committed>[1], lastSeq: number): void {
    if (lastSeq - what.events === (this.#notifiedUpTo.get(workspaceId) ?? 0))
      this.#notifiedUpTo.set(workspaceId, lastSeq)
    this.#notify(workspaceId, what)
  }

  close(): void {
    this.#isClosed = true
    this.#stop()
  }

  #notify(workspaceId: number, what: Parameters<Committed>[1]): void {
    for (const listener of this.#listeners) listener(workspaceId, what)
  }

  #stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(async () => {
      await this.#look().catch(() => undefined)
      if (this.#timer !== null) this.#lookIn(LOOK_EVERY_MS)
    }, ms)
    this.#timer.unref()
  }

  async #look(): Promise<void> {
    const rows = await this.#pool.rows(sql`select workspace_id, last_seq from baton_counters`)
    for (const [workspaceId, lastSeq] of rows as [number, number][]) {
      const events = lastSeq - (this.#notifiedUpTo.get(workspaceId) ?? 0)
      if (events <= 0) continue
      this.#notifiedUpTo.set(workspaceId, lastSeq)
      // It is unknown what others queued: waiting callers check once too often rather than too late.
      if (!this.#isFirstPoll) this.#notify(workspaceId, { events, tasksWaiting: true })
    }
    this.#isFirstPoll = false
  }
}
