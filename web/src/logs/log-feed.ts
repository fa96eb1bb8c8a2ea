import { type LogPageText, lineEnds, type Piece } from './lines.ts'
import {
  type ByteRange,
  EMPTY_WINDOW,
  extended,
  isAtLogEnd,
  type LogWindow,
  MOST_PAGES,
  mergedOutput,
  openedAt,
  PAGE_BYTES,
  pageAfter,
  pageAround,
  pageBefore,
  withOutput,
} from './log-window.ts'

/** Keeps a window of a log: reads pages, takes live output, fills holes. Plain TypeScript; a component listens to it. */

export interface LogAnswer extends LogPageText {
  readonly status: 'writing' | 'available' | 'log_unavailable'
  readonly bytes: number | null
  readonly truncated: boolean
  readonly detail?: string | undefined
}

export type LogRead = { offset: number; limitBytes: number } | { tail: number }

export interface LogFeedState {
  readonly window: LogWindow
  readonly phase: 'opening' | 'ready' | 'unavailable'
  /** Why there is no log, in a sentence. */
  readonly detail: string | null
  readonly isTruncated: boolean
  /** Lines that came while the reader looked elsewhere. */
  readonly newLines: number
  readonly error: unknown
}

interface Parts {
  read(wanted: LogRead): Promise<LogAnswer>
  /** Calls back later, about ten times a second at most; returns how to stop it. */
  later(call: () => void): () => void
}

const MOST_EMPTY_READS = 20

const BEGINNING: LogFeedState = {
  window: EMPTY_WINDOW,
  phase: 'opening',
  detail: null,
  isTruncated: false,
  newLines: 0,
  error: null,
}

export class LogFeed {
  readonly #parts: Parts
  readonly #listeners = new Set<() => void>()
  #state = BEGINNING
  #waiting: Piece[] = []
  #stopTimer: (() => void) | null = null
  #isFollowing = true
  #isFilling = false
  #reading: 'before' | 'after' | null = null
  #emptyReads = 0
  /** Each new window has a number: answers for an earlier one are dropped. */
  #opening = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get state(): LogFeedState {
    return this.#state
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly snapshot = (): LogFeedState => this.#state

  close(): void {
    this.#opening += 1
    this.#stopTimer?.()
    this.#stopTimer = null
  }

  /** At the end of the log. */
  openEnd(): Promise<void> {
    return this.#open({ tail: PAGE_BYTES })
  }

  /** Where this byte is in view. */
  openAround(offset: number): Promise<void> {
    const { logBytes } = this.#state.window
    const { from } = pageAround(offset, logBytes === 0 ? Number.POSITIVE_INFINITY : logBytes)
    return this.#open({ offset: from, limitBytes: PAGE_BYTES })
  }

  /** Whether the reader is at the end and wants to stay there. */
  setFollowing(isFollowing: boolean): void {
    this.#isFollowing = isFollowing
    if (isFollowing && this.#state.newLines > 0) this.#set({ newLines: 0 })
  }

  take(output: Piece): void {
    this.#waiting.push(output)
    this.#applyLater()
  }

  /** More text before the window. */
  async extendBefore(): Promise<void> {
    await this.#extend('before', pageBefore(this.#state.window))
  }

  async extendAfter(): Promise<void> {
    await this.#extend('after', pageAfter(this.#state.window))
  }

  /** Reads what the log has beyond the window: after the run is over, or while no output can be sent. */
  async catchUp(): Promise<void> {
    this.#apply()
    const { window, phase } = this.#state
    if (phase === 'ready' && isAtLogEnd(window))
      await this.#fill({ from: window.end, to: Number.MAX_SAFE_INTEGER })
  }

  #set(change: Partial<LogFeedState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of this.#listeners) listener()
  }

  async #open(wanted: LogRead): Promise<void> {
    this.#opening += 1
    const opening = this.#opening
    this.#reading = null
    this.#isFilling = false
    try {
      const answer = await this.#parts.read(wanted)
      if (opening !== this.#opening) return
      const isThere = answer.status !== 'log_unavailable'
      this.#set({
        window: isThere ? openedAt(answer, answer.bytes ?? 0) : EMPTY_WINDOW,
        phase: isThere ? 'ready' : 'unavailable',
        detail: answer.detail ?? null,
        isTruncated: answer.truncated,
        error: null,
        newLines: 0,
      })
      this.#apply()
    } catch (error) {
      if (opening === this.#opening) this.#set({ error })
    }
  }

  async #extend(side: 'before' | 'after', range: ByteRange | null): Promise<void> {
    if (!range || this.#reading || this.#state.phase !== 'ready') return
    this.#reading = side
    const opening = this.#opening
    try {
      const answer = await this.#parts.read({ offset: range.from, limitBytes: range.to - range.from })
      if (opening !== this.#opening) return
      this.#set({ window: extended(this.#state.window, answer, answer.bytes ?? 0), error: null })
    } catch (error) {
      if (opening === this.#opening) this.#set({ error })
    } finally {
      if (opening === this.#opening) this.#reading = null
    }
  }

  #applyLater(): void {
    this.#stopTimer ??= this.#parts.later(() => {
      this.#stopTimer = null
      // The log of a run begins with its first output.
      if (this.#state.phase === 'unavailable') void this.openEnd()
      else this.#apply()
    })
  }

  #apply(): void {
    if (this.#isFilling || this.#state.phase !== 'ready' || this.#waiting.length === 0) return
    const outputs = mergedOutput(this.#waiting)
    this.#waiting = []
    let { window, newLines } = this.#state
    for (const [index, output] of outputs.entries()) {
      const { window: next, hole } = withOutput(window, output, this.#isFollowing)
      if (!this.#isFollowing && next !== window && !hole) newLines += lineEnds(output.text)
      window = next
      if (hole) {
        this.#waiting = outputs.slice(index)
        this.#set({ window, newLines })
        void this.#fill(hole)
        return
      }
    }
    this.#emptyReads = 0
    if (window !== this.#state.window) this.#set({ window, newLines })
  }

  /**
   * Reads what the socket left out, page by page; output that arrives during the read waits. Output is sent before it is stored, so a hole may
   * have to be read again in a moment. What is never stored, since the log is full, is not waited for.
   */
  async #fill(hole: ByteRange): Promise<void> {
    if (this.#isFilling) return
    this.#isFilling = true
    const opening = this.#opening
    try {
      while (this.#state.window.end < hole.to && (await this.#readOn(opening)));
      if (opening !== this.#opening) return
      this.#emptyReads = this.#state.window.end < hole.to ? this.#emptyReads + 1 : 0
      if (this.#emptyReads >= MOST_EMPTY_READS) this.#waiting = []
    } catch (error) {
      if (opening === this.#opening) this.#set({ error })
    } finally {
      if (opening === this.#opening) {
        this.#isFilling = false
        if (this.#waiting.length > 0) this.#applyLater()
      }
    }
  }

  /** Reads the page after the window; false: nothing came, or the window must not move. */
  async #readOn(opening: number): Promise<boolean> {
    const { end } = this.#state.window
    const answer = await this.#parts.read({ offset: end, limitBytes: PAGE_BYTES })
    if (opening !== this.#opening) return false
    const before = this.#state.window
    if (!this.#isFollowing && before.pages.length >= MOST_PAGES) {
      this.#set({ window: { ...before, logBytes: Math.max(before.logBytes, answer.bytes ?? 0) } })
      return false
    }
    const window = extended(before, answer, answer.bytes ?? 0)
    if (window.end === end) return false
    const newLines = this.#isFollowing ? 0 : this.#state.newLines + lineEnds(answer.content)
    this.#set({ window, newLines, error: null })
    return true
  }
}
