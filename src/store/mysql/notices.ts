import type { Committed } from '../store.ts'
import type { Pool } from './connect.ts'
import { sql } from './sql.ts'

const LOOK_EVERY_MS = 250

/**
 * Tells listeners what was committed: by this process at once, by others when the counters show it. Neither server can
 * call out, so the counters are looked at now and then, and only while somebody listens.
 */
export class Notices {
  readonly #pool: Pool
  readonly #listeners = new Set<Committed>()
  /** How far listeners were told, by workspace. */
  readonly #toldTo = new Map<number, number>()
  #timer: NodeJS.Timeout | null = null
  #isFirstLook = true
  #isClosed = false

  constructor(pool: Pool) {
    this.#pool = pool
  }

  listen(listener: Committed): () => void {
    this.#listeners.add(listener)
    if (this.#timer === null && !this.#isClosed) {
      this.#isFirstLook = true
      this.#lookIn(0)
    }
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  /** Of this process. What others committed before it is still to be told: then the counters will show both. */
  committed(workspaceId: number, what: Parameters<Committed>[1], lastSeq: number): void {
    if (lastSeq - what.events === (this.#toldTo.get(workspaceId) ?? 0)) this.#toldTo.set(workspaceId, lastSeq)
    this.#tell(workspaceId, what)
  }

  close(): void {
    this.#isClosed = true
    this.#stop()
  }

  #tell(workspaceId: number, what: Parameters<Committed>[1]): void {
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
      const events = lastSeq - (this.#toldTo.get(workspaceId) ?? 0)
      if (events <= 0) continue
      this.#toldTo.set(workspaceId, lastSeq)
      // What others queued is not known: somebody who waits for work looks once too often rather than too late.
      if (!this.#isFirstLook) this.#tell(workspaceId, { events, tasksWaiting: true })
    }
    this.#isFirstLook = false
  }
}
