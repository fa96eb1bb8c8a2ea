import type { Step } from '../../../../src/kinds/run/shapes/transcript.ts'
import { objectIn } from '../../../../src/transcript/json.ts'
import { isKnownProgram, type TranscriptReader, transcriptReader } from '../../../../src/transcript/reader.ts'
import type { LogStream, Piece } from '../../logs/lines.ts'
import { plainText } from '../../logs/settle.ts'
import { unitAfterBytes, utf8Bytes } from '../../logs/utf8.ts'
import { linesOfStep, type TailLine } from './step-lines.ts'

/** The end of what one run printed, as a person reads it: steps of the programs that we know, text of all others. Pure. */

/** In a tile among others. */
export const LINES_IN_TILE = 8
const STEPS_KEPT = 80
/** Limit of a line without its end: a progress bar may be drawn for hours. */
const MOST_UNFINISHED = 2_000

/** After one of these, it is not known whether the agent thinks. */
const IS_OVER: readonly Step['kind'][] = ['ended', 'asked', 'limited']

export class RunTail {
  readonly #adapterType: string
  /** The log's lines are JSON: a part of one cannot be read. */
  readonly #isKnown: boolean
  #reader: TranscriptReader
  /** The reader starts again after a hole, and so do its numbers. */
  #holes = 0
  readonly #steps = new Map<string, Step>()
  /** Where the next piece is expected; null: nothing was read. */
  #end: number | null = null
  /** The first line of this part may be the rest of one. */
  #isCut = false
  /** Output that arrived before the end of the log was read. */
  #early: Piece[] | null = []
  #lastCall = ''
  #equalCalls = 0
  #heardAt: number | null = null

  constructor(adapterType: string) {
    this.#adapterType = adapterType
    this.#isKnown = isKnownProgram(adapterType)
    this.#reader = transcriptReader(adapterType)
  }

  /** When it last printed something; null: not known. */
  get heardAt(): number | null {
    return this.#heardAt
  }

  /** How many of its last calls were the same one. */
  get equalCalls(): number {
    return this.#equalCalls
  }

  /** The end of its log, as far as it was read; then what arrived in the meantime. */
  open(pieces: readonly Piece[]): void {
    const early = this.#early ?? []
    this.#early = null
    this.#isCut = (pieces[0]?.offset ?? 0) > 0
    for (const piece of pieces) this.#take(piece)
    if (!this.#isKnown) this.#isCut = false
    for (const piece of early) this.#take(piece)
  }

  take(piece: Piece): void {
    if (this.#early) this.#early.push(piece)
    else this.#take(piece)
  }

  lines(isLive: boolean, most = LINES_IN_TILE): readonly TailLine[] {
    const entries = [...this.#steps].slice(-most)
    const lines = entries.flatMap(([key, step], place) =>
      linesOfStep(step, key, isLive && place === entries.length - 1 ? this.#heardAt : null, most),
    )
    const last = entries.at(-1)?.[1]
    const unfinished = this.#unfinished()
    if (unfinished !== '') lines.push({ key: 'unfinished', text: unfinished, look: 'plain', since: null })
    else if (isLive && this.#isKnown && last && !isWaiting(last))
      lines.push({ key: 'thinks', text: 'thinks,', look: 'quiet', since: this.#heardAt })
    return lines.slice(-most)
  }

  #take(piece: Piece): void {
    const { stream, at } = piece
    const end = piece.offset + utf8Bytes(piece.text)
    if (this.#end !== null && end <= this.#end) return
    let { offset, text } = piece
    if (this.#end !== null && offset < this.#end) {
      text = text.slice(unitAfterBytes(text, 0, this.#end - offset))
      offset = this.#end
    }
    if (this.#end !== null && offset > this.#end) this.#beginAfterHole()
    this.#end = end
    if (at !== null) this.#heardAt = at
    const whole = this.#isCut && stream === 'stdout' ? this.#afterCut(text) : text
    if (whole === '') return
    const from = offset + utf8Bytes(text) - utf8Bytes(whole)
    const time = at === null ? null : new Date(at).toISOString()
    for (const step of this.#reader.take(from, stream, whole, time)) this.#keep(step)
  }

  #beginAfterHole(): void {
    this.#holes += 1
    this.#reader = transcriptReader(this.#adapterType)
    this.#isCut = this.#isKnown
  }

  /** The text without the rest of a line whose beginning is not known. A whole line of JSON stays. */
  #afterCut(text: string): string {
    const newline = text.indexOf('\n')
    if (newline === -1) return ''
    this.#isCut = false
    return objectIn(text.slice(0, newline)) === null ? text.slice(newline + 1) : text
  }

  #keep(step: Step): void {
    const key = `${this.#holes}.${step.n}`
    if (!this.#steps.has(key) && (step.kind === 'call' || step.kind === 'edit')) {
      const call = `${step.tool} ${step.title} ${step.text}`
      this.#equalCalls = call === this.#lastCall ? this.#equalCalls + 1 : 1
      this.#lastCall = call
    }
    this.#steps.set(key, step)
    if (this.#steps.size > STEPS_KEPT) this.#steps.delete(this.#steps.keys().next().value!)
  }

  /** What a plain program has written of its line so far. */
  #unfinished(): string {
    const { unfinished } = this.#reader.state()
    const texts = (['stdout', 'stderr'] satisfies LogStream[]).map((stream) => unfinished[stream]?.text ?? '')
    const text = texts.findLast((one) => one.trim() !== '') ?? ''
    return this.#isKnown || text.startsWith('{') ? '' : plainText(text.slice(-MOST_UNFINISHED)).trim()
  }
}

/** The program waits for a tool, a person or a limit, or thinks already. */
const isWaiting = ({ isOpen, kind }: Step) => isOpen || kind === 'thought' || IS_OVER.includes(kind)
