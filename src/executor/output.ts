import type { LiveOutput } from '../kernel/live-output.ts'
import type { LogEntry, LogStream, LogSummary, RunLogHandle, RunLogStore } from '../logs/protocol.ts'
import { Redactor } from '../pure/secrets/redaction.ts'
import { EXCERPT_BYTES, Excerpt } from './excerpt.ts'
import type { RunSecrets } from './run-secrets.ts'
import type { Timers } from './timers.ts'

const FLUSH_AFTER_MS = 40
const FLUSH_FROM_BYTES = 64 * 1024
/** Small pieces are joined; large ones would only be copied. */
const JOIN_UP_TO = 16 * 1024
/** Beyond this, the writer has to wait. */
const MOST_WAITING_BYTES = 64 * 1024

export const newExcerpts = (mostBytes: number) => ({
  stdout: new Excerpt(mostBytes),
  stderr: new Excerpt(mostBytes),
})

/** A log that another node began. */
export interface LoggedBefore {
  bytes: number
  isFinal: boolean
  /** It is not here. */
  isLost: boolean
  excerpts: { stdout: Excerpt; stderr: Excerpt }
}

/**
 * Everything an agent writes, on its way to the log, the excerpts and the live readers: redacted, batched, and with a small
 * limit on what is in memory.
 */
export class RunOutput {
  readonly #store: RunLogStore
  readonly #handle: RunLogHandle
  readonly #live: (chunk: { stream: LogStream; chunk: string; offset: number }) => void
  readonly #secrets: RunSecrets
  readonly #redactors = { stdout: new Redactor([]), stderr: new Redactor([]), system: new Redactor([]) }
  readonly #excerpts: { stdout: Excerpt; stderr: Excerpt }
  readonly #warn: (error: unknown) => void
  #waiting: LogEntry[] = []
  #waitingBytes = 0
  #offset = 0
  readonly #timers: Timers
  #cancelFlush: (() => void) | null = null
  #taking: Promise<void> = Promise.resolve()
  #writing: Promise<void> = Promise.resolve()
  /** Something could not be written. The store may not know, since it was unreachable. */
  #hasLost: boolean
  /** The log was finished already: nothing can be added. */
  readonly #isClosed: boolean

  constructor(options: {
    store: RunLogStore
    handle: RunLogHandle
    secrets: RunSecrets
    live: LiveOutput
    run: { workspaceId: number; runId: string; agent: string }
    warn: (error: unknown) => void
    timers: Timers
    excerptBytes?: number
    /** What another node has logged of the run already. */
    before?: LoggedBefore
  }) {
    this.#timers = options.timers
    this.#store = options.store
    this.#handle = options.handle
    this.#warn = options.warn
    this.#live = (chunk) => options.live.publish({ ...options.run, ...chunk })
    this.#offset = options.before?.bytes ?? 0
    this.#hasLost = options.before?.isLost ?? false
    this.#isClosed = options.before?.isFinal ?? false
    this.#excerpts = options.before?.excerpts ?? newExcerpts(options.excerptBytes ?? EXCERPT_BYTES)
    this.#secrets = options.secrets
  }

  /** In the order of the calls, also if the caller does not wait. */
  take(stream: LogStream, chunk: string): Promise<void> {
    this.#taking = this.#taking.then(() => this.#redact(stream, chunk))
    return this.#taking
  }

  async #redact(stream: LogStream, chunk: string): Promise<void> {
    const redactor = this.#redactors[stream]
    redactor.learn(await this.#secrets.current())
    this.#add(stream, redactor.take(chunk))
    if (this.#waitingBytes >= FLUSH_FROM_BYTES) this.#flush()
    else this.#cancelFlush ??= this.#timers.after(FLUSH_AFTER_MS, () => this.#flush())
    if (this.#waitingBytes >= MOST_WAITING_BYTES) await this.#writing
  }

  /** Writes a line of Baton's own to the log. */
  systemLine(line: string): Promise<void> {
    return this.take('system', `${line}\n`)
  }

  excerpt(stream: 'stdout' | 'stderr'): string | null {
    return this.#excerpts[stream].text()
  }

  /** Everything so far is in the log, which another node continues. */
  async pause(): Promise<void> {
    await this.#taking
    for (const stream of ['stdout', 'stderr', 'system'] as const)
      this.#add(stream, this.#redactors[stream].end())
    this.#flush()
    await this.#writing
  }

  /** No more output will come. Null: the log could not be finalized; what was written stays in its store. */
  async end(): Promise<LogSummary | null> {
    await this.pause()
    try {
      const summary = await this.#store.finalize(this.#handle)
      return { ...summary, truncated: summary.truncated || this.#hasLost }
    } catch (error) {
      this.#warn(error)
      return null
    }
  }

  #add(stream: LogStream, text: string): void {
    if (text === '' || this.#isClosed) return
    const bytes = Buffer.byteLength(text)
    if (stream !== 'system') this.#excerpts[stream].take(text)
    const last = this.#waiting.at(-1)
    if (last?.stream === stream && last.chunk.length + text.length < JOIN_UP_TO) last.chunk += text
    else this.#waiting.push({ stream, chunk: text, ts: new Date().toISOString() })
    this.#waitingBytes += bytes
    this.#live({ stream, chunk: text, offset: this.#offset })
    this.#offset += bytes
  }

  /** Writes are sequential, in the order of the output. */
  #flush(): void {
    this.#cancelFlush?.()
    this.#cancelFlush = null
    this.#writing = this.#writing.then(async () => {
      const entries = this.#waiting
      if (entries.length === 0) return
      this.#waiting = []
      this.#waitingBytes = 0
      // A failed write loses a part of the log; it must not fail the run.
      await this.#store.append(this.#handle, entries).catch((error) => {
        this.#hasLost = true
        this.#warn(error)
      })
    })
  }
}
