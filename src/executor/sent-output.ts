import type { ServerStore } from '../door/server-store.ts'
import type { OutputChunk } from '../kernel/live-output.ts'
import { grouped } from '../pure/grouped.ts'
import type { Timers } from './timers.ts'

/** Output of this node that readers of other nodes want, on its way to the tail in the database. */

/** A line waits this long for others. */
const SEND_AFTER_MS = 20
/** For a reader whose request was on its way when the output was written. */
const RECENT_MS = 500
const MOST_RECENT_CHUNKS = 200
const MOST_RECENT_LENGTH = 256 * 1024
/** Beyond this, a run's output is left out: the reader has the offset, and reads the rest from the log. */
const MOST_WAITING_LENGTH = 256 * 1024
/** All readers have read rows that are older. */
const KEEP_MS = 10_000

/** One row of the tail. */
export interface SentOutput {
  agent: string
  chunks: Pick<OutputChunk, 'stream' | 'chunk' | 'offset'>[]
}

type WaitingRuns = Map<string, SentOutput & { length: number }>

export class OutputSender {
  readonly #store: ServerStore
  readonly #timers: Timers
  readonly #waiting = new Map<number, WaitingRuns>()
  readonly #sending = new Map<number, Promise<void>>()
  readonly #cancelSend = new Map<number, () => void>()
  /** Runs that have rows in the tail, and when the last was written. */
  readonly #sent = new Map<string, { workspaceId: number; at: number }>()
  #recent: { chunk: OutputChunk; at: number }[] = []
  #recentLength = 0

  constructor(store: ServerStore, timers: Timers) {
    this.#store = store
    this.#timers = timers
  }

  /** Nobody wants it now; somebody may in a moment. */
  remember(chunk: OutputChunk): void {
    this.#recent.push({ chunk, at: this.#timers.now() })
    this.#recentLength += chunk.chunk.length
    while (this.#recent.length > MOST_RECENT_CHUNKS || this.#recentLength > MOST_RECENT_LENGTH)
      this.#recentLength -= this.#recent.shift()!.chunk.chunk.length
  }

  /** Sends what was remembered and is wanted now. */
  sendRecent(isWanted: (chunk: OutputChunk) => boolean): void {
    const since = this.#timers.now() - RECENT_MS
    const recent = this.#recent.filter(({ at }) => at >= since)
    const left = recent.filter(({ chunk }) => !isWanted(chunk))
    for (const { chunk } of recent) if (isWanted(chunk)) this.send(chunk)
    this.#recent = left
    this.#recentLength = left.reduce((sum, { chunk }) => sum + chunk.chunk.length, 0)
  }

  send({ workspaceId, runId, agent, stream, chunk, offset }: OutputChunk): void {
    const runs: WaitingRuns = this.#waiting.get(workspaceId) ?? new Map()
    this.#waiting.set(workspaceId, runs)
    const run = runs.get(runId) ?? { agent, chunks: [], length: 0 }
    runs.set(runId, run)
    if (run.length + chunk.length > MOST_WAITING_LENGTH && run.length > 0) return
    run.length += chunk.length
    run.chunks.push({ stream, chunk, offset })
    this.#sendSoon(workspaceId)
  }

  #sendSoon(workspaceId: number): void {
    if (this.#sending.has(workspaceId) || this.#cancelSend.has(workspaceId)) return
    const cancel = this.#timers.after(SEND_AFTER_MS, () => {
      this.#cancelSend.delete(workspaceId)
      const sending = this.#sendWaiting(workspaceId)
        // The database is unreachable. The log has the output.
        .catch(() => undefined)
        .finally(() => {
          this.#sending.delete(workspaceId)
          if (this.#waiting.has(workspaceId)) this.#sendSoon(workspaceId)
        })
      this.#sending.set(workspaceId, sending)
    })
    this.#cancelSend.set(workspaceId, cancel)
  }

  async #sendWaiting(workspaceId: number): Promise<void> {
    const runs = [...(this.#waiting.get(workspaceId) ?? [])]
    this.#waiting.delete(workspaceId)
    const rows = runs.map(([runId, { agent, chunks }]) => ({ runId, asked: null, body: { agent, chunks } }))
    const runIds = runs.map(([runId]) => runId)
    for (const runId of runIds) this.hasRows(workspaceId, runId)
    await this.#store.logTail.add(workspaceId, rows, { output: { workspaceId, runs: runIds } })
  }

  /** The run has rows in the tail, which are to be trimmed. */
  hasRows(workspaceId: number, runId: string): void {
    this.#sent.set(runId, { workspaceId, at: this.#timers.now() })
  }

  /** Deletes the rows that have been read. */
  async trim(): Promise<void> {
    const before = this.#timers.now() - 2 * KEEP_MS
    const byWorkspace = grouped(this.#sent, ([, { workspaceId }]) => workspaceId)
    // This trim deletes their last rows.
    for (const [runId, { at }] of this.#sent) if (at < before) this.#sent.delete(runId)
    for (const [workspaceId, sent] of byWorkspace) {
      const runIds = sent.map(([runId]) => runId)
      await this.#store.logTail.trim(workspaceId, runIds, KEEP_MS)
    }
  }

  close(): void {
    for (const cancel of this.#cancelSend.values()) cancel()
    this.#cancelSend.clear()
    this.#waiting.clear()
  }
}
