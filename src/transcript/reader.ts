import type { Step, TranscriptState } from '../kinds/run/shapes/transcript.ts'
import { readClaude } from './claude.ts'
import { readCodex } from './codex.ts'
import { type Fact, type LineReader, titleOf } from './facts.ts'
import { readGemini } from './gemini.ts'
import { type Json, objectIn, text } from './json.ts'
import { readOpencode } from './opencode.ts'
import { readProcess } from './process.ts'
import { type Place, Steps } from './steps.ts'
import { StreamLines } from './stream-lines.ts'

const AT_START =
  /^(?:\[?(?:error|fatal|panic|critical)\b|(?:[A-Za-z_$][\w.$]*)?(?:Error|Exception)\b|traceback \(most recent|npm err!|fail(?:ed|ure)?\b)/i
const ANYWHERE = /\b(?:ERROR|FATAL|CRITICAL|panicked at|Unhandled\w* (?:error|exception|rejection))\b/
const LONGEST_LOOKED_AT = 500
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are not part of the words
const COLOURS = /\u001b\[[0-9;:]*m/g

/** Whether a line of any program tells of an error. A guess: it puts a mark beside the line, and decides nothing. */
function looksLikeError(line: string): boolean {
  const start = line.slice(0, LONGEST_LOOKED_AT).replace(COLOURS, '').trimStart()
  return AT_START.test(start) || ANYWHERE.test(start)
}

/**
 * Reads what an agent printed as steps. Servers read the log with it, browsers the live output: it needs neither Node nor
 * zod. It can stop at any byte and go on from its state.
 */

const READERS: Record<string, LineReader> = {
  claude_local: readClaude,
  codex_local: readCodex,
  gemini_local: readGemini,
  opencode_local: readOpencode,
}

/** Whether its lines have a form of their own; other programs print what they like. */
export const isKnownProgram = (adapterType: string): boolean => Object.hasOwn(READERS, adapterType)

const BEGINNING: TranscriptState = {
  offset: 0,
  n: 0,
  last: null,
  isPiece: false,
  open: [],
  unfinished: {},
  notes: {},
}

type Stream = Step['stream']

export class TranscriptReader {
  readonly #read: LineReader
  readonly #lines: StreamLines
  readonly #steps: Steps
  readonly #notes: Json
  #offset: number

  /** Other adapters have programs of any kind, which may report in Baton's own lines. */
  constructor(adapterType: string, state: TranscriptState = BEGINNING) {
    this.#read = (isKnownProgram(adapterType) && READERS[adapterType]) || readProcess
    this.#lines = new StreamLines(state.unfinished)
    this.#steps = new Steps(state)
    this.#notes = { ...state.notes }
    this.#offset = state.offset
  }

  /** A piece of the log, wherever it was cut. The steps it makes or changes: one with a known number replaces that one. */
  take(offset: number, stream: Stream, chunk: string, at: string | null = null): Step[] {
    const { lines, end } = this.#lines.take(offset, stream, chunk, at)
    this.#offset = end
    return lines.flatMap((line) => this.#line(line.text, line))
  }

  /** One whole line, without its end. */
  push(offset: number, stream: Stream, line: string, at: string | null = null): Step[] {
    return this.take(offset, stream, `${line}\n`, at)
  }

  /** No more will come: the last lines may have no end. */
  end(): Step[] {
    return this.#lines.end(this.#offset).flatMap((line) => this.#line(line.text, line))
  }

  state(): TranscriptState {
    const { n, last, isPiece, open } = this.#steps
    const unfinished = this.#lines.unfinished()
    return { offset: this.#offset, n, last, isPiece, open, unfinished, notes: { ...this.#notes } }
  }

  #line(line: string, place: Place): Step[] {
    if (line.trim() === '') return []
    const changed = new Map<number, Step>()
    for (const fact of this.#facts(line, place)) {
      const step = this.#steps.take(fact, place)
      if (step) changed.set(step.n, step)
    }
    return [...changed.values()]
  }

  #facts(line: string, { stream }: Place): Fact[] {
    const json = stream === 'stdout' ? objectIn(line) : null
    if (!json) return [{ kind: 'log', text: line, isError: looksLikeError(line), isPiece: true }]
    return this.#read(json, this.#notes) ?? [unknownLine(json, line)]
  }
}

/** Whatever a program may print in the future is shown as it is. */
function unknownLine(json: Json, line: string): Fact {
  const name = [json.type, json.subtype].flatMap((part) => text(part) ?? []).join(' ')
  return { kind: 'log', title: titleOf(name || line), text: line }
}

export const transcriptReader = (adapterType: string, state?: TranscriptState) =>
  new TranscriptReader(adapterType, state)
