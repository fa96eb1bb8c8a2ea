import type { AnswerTo } from '../../../src/client/client.ts'
import type { Step, TranscriptState } from '../../../src/kinds/run/shapes/transcript.ts'
import { type TranscriptReader, transcriptReader } from '../../../src/transcript/reader.ts'
import { type Piece, piecesOf } from './lines.ts'
import type { LogAnswer } from './log-feed.ts'
import { mergedOutput, PAGE_BYTES } from './log-window.ts'
import { withSteps } from './steps/fold.ts'
import { utf8Bytes } from './utf8.ts'

/** Keeps a part of a transcript: what the server has read of the log, and the live output, read by the same readers. */

export type TranscriptAnswer = AnswerTo<'GET', '/runs/:id/transcript'>

export interface TranscriptFeedState {
  readonly steps: readonly Step[]
  readonly total: number
  readonly phase: 'opening' | 'ready' | 'unavailable'
  readonly detail: string | null
  /** 0 to 1 while a large log is read for the first time. */
  readonly readShare: number
  /** Steps that came while the reader looked elsewhere. */
  readonly newSteps: number
  readonly error: unknown
}

interface Parts {
  readSteps(
    wanted: { before: number; limit: number } | { after: number; limit: number },
  ): Promise<TranscriptAnswer>
  readLog(wanted: { offset: number; limitBytes: number }): Promise<LogAnswer>
  /** Calls back later, about ten times a second at most; returns how to stop it. */
  later(call: () => void): () => void
}

const STEPS_A_PAGE = 200
export const MOST_STEPS = 2_000
/** Beyond the last step. */
const END = 2_147_483_647
const MOST_EMPTY_READS = 20

const BEGINNING: TranscriptFeedState = {
  steps: [],
  total: 0,
  phase: 'opening',
  detail: null,
  readShare: 0,
  newSteps: 0,
  error: null,
}

export class TranscriptFeed {
  readonly #parts: Parts
  readonly #listeners = new Set<() => void>()
  #state = BEGINNING
  #reader: TranscriptReader | null = null
  /** Up to where the reader has read the log. */
  #offset = 0
  #waiting: Piece[] = []
  #stopTimer: (() => void) | null = null
  #isFollowing = true
  #isFilling = false
  #isReading = false
  #emptyReads = 0
  /** Each opening has a number: answers to an earlier one are dropped. */
  #opening = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly snapshot = (): TranscriptFeedState => this.#state

  close(): void {
    this.#opening += 1
    this.#stopTimer?.()
    this.#stopTimer = null
  }

  /** The last steps. A large log is read by several requests, each of which continues where the previous one stopped. */
  async openEnd(): Promise<void> {
    this.#opening += 1
    const opening = this.#opening
    this.#isFilling = false
    this.#isReading = false
    try {
      for (let readBytes = -1; ; ) {
        const answer = await this.#parts.readSteps({ before: END, limit: STEPS_A_PAGE })
        if (opening !== this.#opening) return
        const isDone = answer.isComplete || answer.readBytes <= readBytes
        readBytes = answer.readBytes
        this.#opened(answer, isDone)
        if (isDone) break
      }
    } catch (error) {
      const { code, detail } = error as { code?: string; detail?: string }
      if (opening !== this.#opening) return
      this.#set(code === 'LOG_UNAVAILABLE' ? { phase: 'unavailable', detail: detail ?? null } : { error })
    }
  }

  setFollowing(isFollowing: boolean): void {
    this.#isFollowing = isFollowing
    if (isFollowing && this.#state.newSteps > 0) this.#set({ newSteps: 0 })
  }

  take(output: Piece): void {
    this.#waiting.push(output)
    this.#applyLater()
  }

  async extendBefore(): Promise<void> {
    const first = this.#state.steps[0]?.n ?? 1
    if (first > 1) await this.#extend({ before: first, limit: STEPS_A_PAGE })
  }

  async extendAfter(): Promise<void> {
    const { steps, total } = this.#state
    const last = steps.at(-1)?.n ?? 0
    if (steps.length > 0 && last < total) await this.#extend({ after: last, limit: STEPS_A_PAGE })
  }

  /** Reads what was not seen live. When the run is over, its last line counts without its end. */
  async catchUp(isOver: boolean): Promise<void> {
    this.#apply()
    if (!this.#reader) return
    await this.#fill(Number.MAX_SAFE_INTEGER)
    if (isOver) this.#add(this.#reader.end())
  }

  #set(change: Partial<TranscriptFeedState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of this.#listeners) listener()
  }

  #opened(answer: TranscriptAnswer, isDone: boolean): void {
    this.#set({
      steps: answer.steps,
      total: answer.total,
      phase: isDone ? 'ready' : 'opening',
      detail: null,
      readShare: answer.bytes ? Math.min(answer.readBytes / answer.bytes, 1) : 1,
      error: null,
    })
    if (!answer.resume) return
    this.#reader = transcriptReader(answer.adapterType, answer.resume as TranscriptState)
    this.#offset = answer.resume.offset
    this.#apply()
  }

  async #extend(wanted: Parameters<Parts['readSteps']>[0]): Promise<void> {
    if (this.#isReading || this.#state.phase !== 'ready') return
    this.#isReading = true
    const opening = this.#opening
    try {
      const { steps, total } = await this.#parts.readSteps(wanted)
      if (opening !== this.#opening) return
      const all = withSteps(this.#state.steps, steps)
      const kept = 'before' in wanted ? all.slice(0, MOST_STEPS) : all.slice(-MOST_STEPS)
      this.#set({ steps: kept, total: Math.max(total, this.#state.total), error: null })
    } catch (error) {
      if (opening === this.#opening) this.#set({ error })
    } finally {
      if (opening === this.#opening) this.#isReading = false
    }
  }

  /** New and changed steps, if they belong to this part. */
  #add(came: readonly Step[]): void {
    if (came.length === 0) return
    const { steps, total, newSteps } = this.#state
    const isAtEnd = (steps.at(-1)?.n ?? 0) >= total
    const first = steps[0]?.n ?? 1
    const last = isAtEnd ? END : steps.at(-1)!.n
    const here = came.filter(({ n }) => n >= first && n <= last)
    const most = Math.max(total, ...came.map(({ n }) => n))
    const all = withSteps(steps, here)
    this.#set({
      steps: this.#isFollowing ? all.slice(-MOST_STEPS) : all,
      total: most,
      newSteps: this.#isFollowing ? 0 : newSteps + most - total,
    })
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
    if (this.#isFilling || !this.#reader || this.#waiting.length === 0) return
    const outputs = mergedOutput(this.#waiting)
    this.#waiting = []
    const came: Step[] = []
    for (const [index, output] of outputs.entries()) {
      const to = output.offset + utf8Bytes(output.text)
      if (to <= this.#offset) continue
      if (output.offset !== this.#offset) {
        this.#waiting = outputs.slice(index)
        this.#add(came)
        void this.#fill(to)
        return
      }
      came.push(...this.#read(output))
    }
    this.#emptyReads = 0
    this.#add(came)
  }

  #read({ offset, stream, text, at }: Piece): Step[] {
    this.#offset = offset + utf8Bytes(text)
    return this.#reader!.take(offset, stream, text, at === null ? null : new Date(at).toISOString())
  }

  /** Reads from the log what the socket left out. It may not be stored yet. What is never stored is not waited for. */
  async #fill(to: number): Promise<void> {
    if (this.#isFilling) return
    this.#isFilling = true
    const opening = this.#opening
    try {
      while (this.#offset < to) {
        const page = await this.#parts.readLog({ offset: this.#offset, limitBytes: PAGE_BYTES })
        if (opening !== this.#opening) return
        const pieces = piecesOf(page)
        if (pieces.length === 0) break
        this.#add(pieces.flatMap((piece) => this.#read(piece)))
      }
      this.#emptyReads = this.#offset < to ? this.#emptyReads + 1 : 0
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
}
