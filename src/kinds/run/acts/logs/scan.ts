import type { LogPage } from '../../../../door/execution.ts'
import type { AnswerOf } from '../../../../pure/shapes.ts'
import { transcriptReader } from '../../../../transcript/reader.ts'
import type { LogOutline } from '../../shapes/logs.ts'
import type { Step, TranscriptState } from '../../shapes/transcript.ts'
import { endOf, partsOf, type RunLog, STEPS_PAGE_BYTES } from './run-log.ts'

/** Places in a log. Of very many, some are left out at even distances, so that the size is bounded. */
class Marks {
  readonly #most: number
  #offsets: number[] = []
  /** Keeps one mark in this many. */
  every: number
  count = 0

  constructor({ most, every = 1 }: { most: number; every?: number }) {
    this.#most = most
    this.every = every
  }

  add(offset: number): void {
    if (this.count++ % this.every !== 0) return
    this.#offsets.push(offset)
    if (this.#offsets.length <= this.#most) return
    this.#offsets = this.#offsets.filter((_, i) => i % 2 === 0)
    this.every *= 2
  }

  get offsets(): readonly number[] {
    return this.#offsets
  }
}

const MOST_LINE_OFFSETS = 2_000
const MOST_MARKS = 1_000
/** States with more unfinished text are not kept: they would cost more memory than they save reading. */
const LONGEST_UNFINISHED = 64 * 1024
/** At most this many bytes are re-read to find a step. */
const STATE_EVERY_BYTES = 1024 * 1024

/**
 * One pass over a log, which continues when the log grows or when the time for a request was too short: its outline, and the state
 * of the transcript's reader at each megabyte, so that any step is found without reading the log before it.
 */
export class LogScan {
  readonly #reader
  readonly #lines = new Marks({ most: MOST_LINE_OFFSETS, every: 100 })
  readonly #steps = new Marks({ most: MOST_MARKS })
  readonly #errors = new Marks({ most: MOST_MARKS })
  readonly #stderr = new Marks({ most: MOST_MARKS })
  readonly #states: TranscriptState[] = []
  #isLineBegun = false
  #lastStep = 0
  #lastError = 0
  #lastStream: Step['stream'] = 'stdout'
  #bytes = 0
  #isEnded = false
  #advancing: Promise<void> = Promise.resolve()

  constructor(adapterType: string) {
    this.#reader = transcriptReader(adapterType)
  }

  /** Reads on, until the log ends or the time is up. One request at a time. */
  advance(log: RunLog, isTimeUp: () => boolean): Promise<void> {
    const advanced = this.#advancing.then(() => this.#advance(log, isTimeUp))
    this.#advancing = advanced.catch(() => undefined)
    return advanced
  }

  async #advance(log: RunLog, isTimeUp: () => boolean): Promise<void> {
    while (!this.#isEnded) {
      const { offset } = this.#reader.state()
      const page = await log.pageAt(offset, STEPS_PAGE_BYTES)
      this.#bytes = page.bytes
      await this.#take(page)
      if (page.nextOffset === null) this.#end()
      if (endOf(page) >= page.bytes || endOf(page) === offset || isTimeUp()) return
    }
  }

  async #take(page: LogPage): Promise<void> {
    const state = this.#reader.state()
    const unfinished = Object.values(state.unfinished).reduce((sum, { text }) => sum + text.length, 0)
    const isDue = state.offset >= (this.#states.at(-1)?.offset ?? -STATE_EVERY_BYTES) + STATE_EVERY_BYTES
    if (isDue && unfinished <= LONGEST_UNFINISHED) this.#states.push(state)
    this.#countLines(page)
    for await (const { offset, stream, ts, text } of partsOf(page)) {
      if (stream === 'stderr' && this.#lastStream !== 'stderr') this.#stderr.add(offset)
      this.#lastStream = stream
      this.#mark(this.#reader.take(offset, stream, text, ts))
    }
  }

  #countLines({ content, offset }: LogPage): void {
    const text = Buffer.from(content)
    for (let at = 0; at < text.length; ) {
      if (!this.#isLineBegun) this.#lines.add(offset + at)
      const newline = text.indexOf(0x0a, at)
      this.#isLineBegun = newline === -1
      at = newline === -1 ? text.length : newline + 1
    }
  }

  /** A step comes again when it changes: it is marked once. */
  #mark(steps: readonly Step[]): void {
    for (const { n, kind, isError, offset, outputOffset } of steps) {
      if (n > this.#lastStep && kind !== 'log') this.#steps.add(offset)
      this.#lastStep = Math.max(this.#lastStep, n)
      if (isError && n !== this.#lastError) {
        this.#errors.add(outputOffset ?? offset)
        this.#lastError = n
      }
    }
  }

  #end(): void {
    this.#mark(this.#reader.end())
    this.#isEnded = true
  }

  get bytes(): number {
    return this.#bytes
  }

  get readBytes(): number {
    return this.#reader.state().offset
  }

  get isComplete(): boolean {
    return this.readBytes >= this.#bytes
  }

  /** How many steps there are so far. */
  get total(): number {
    return this.#reader.state().n
  }

  /** Whether no more will come. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  state(): TranscriptState {
    return this.#reader.state()
  }

  /** The last known state before the step with this number. */
  stateBefore(n: number): TranscriptState | undefined {
    return this.#states.findLast((state) => state.n < n)
  }

  outline(log: RunLog): AnswerOf<typeof LogOutline> {
    const marks = ({ count, offsets }: Marks) => ({ count, offsets })
    return {
      runId: log.run.id,
      status: log.status,
      bytes: this.#bytes,
      readBytes: this.readBytes,
      isComplete: this.isComplete,
      lines: this.#lines.count,
      everyLines: this.#lines.every,
      lineOffsets: this.#lines.offsets,
      steps: marks(this.#steps),
      errors: marks(this.#errors),
      stderr: marks(this.#stderr),
    }
  }
}

const MOST_SCANS = 32

/** The scans of the logs that were last asked for: a finished log is read once, a growing one from where it was read to. */
export class LogScans {
  readonly #scans = new Map<string, LogScan>()

  of({ run }: RunLog): LogScan {
    const key = `${run.workspaceId} ${run.id}`
    const scan = this.#scans.get(key) ?? new LogScan(run.adapterType)
    // The last one that was used is the last to be forgotten.
    this.#scans.delete(key)
    this.#scans.set(key, scan)
    if (this.#scans.size > MOST_SCANS) this.#scans.delete(this.#scans.keys().next().value!)
    return scan
  }
}
