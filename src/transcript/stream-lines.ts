import type { Step, TranscriptState } from '../kinds/run/shapes/transcript.ts'
import type { Place } from './steps.ts'

type Stream = Step['stream']
type Unfinished = NonNullable<TranscriptState['unfinished'][Stream]>

/** What is longer is not read as JSON: part of it would be worse than none, and memory is limited. */
const LONGEST_LINE = 4 * 1024 * 1024

export interface Line extends Place {
  text: string
}

/** The lines of each stream, however the streams alternate and wherever the pieces are cut. */
export class StreamLines {
  readonly #unfinished: Map<Stream, Unfinished>

  constructor(unfinished: TranscriptState['unfinished']) {
    this.#unfinished = new Map(Object.entries(unfinished) as [Stream, Unfinished][])
  }

  /** The lines that this piece completes, and where the piece ends in bytes. */
  take(offset: number, stream: Stream, chunk: string, at: string | null): { lines: Line[]; end: number } {
    const lines: Line[] = []
    let from = 0
    let place = offset
    for (let newline = chunk.indexOf('\n'); newline !== -1; newline = chunk.indexOf('\n', from)) {
      this.#hold(stream, place, chunk.slice(from, newline), at)
      place += utf8Length(chunk, from, newline)
      lines.push(...this.#close(stream, place))
      place += 1
      from = newline + 1
    }
    if (from < chunk.length) {
      this.#hold(stream, place, chunk.slice(from), at)
      place += utf8Length(chunk, from, chunk.length)
    }
    return { lines, end: place }
  }

  /** What no newline has ended. */
  end(offset: number): Line[] {
    return [...this.#unfinished.keys()].flatMap((stream) => this.#close(stream, offset))
  }

  unfinished(): TranscriptState['unfinished'] {
    return Object.fromEntries(this.#unfinished)
  }

  #hold(stream: Stream, offset: number, piece: string, at: string | null): void {
    const before = this.#unfinished.get(stream)
    if (!before) this.#unfinished.set(stream, { offset, at, text: piece })
    else if (before.text.length < LONGEST_LINE)
      this.#unfinished.set(stream, { ...before, text: before.text + piece })
  }

  #close(stream: Stream, end: number): Line[] {
    const line = this.#unfinished.get(stream)
    this.#unfinished.delete(stream)
    if (!line) return []
    const { offset, at } = line
    return [
      {
        offset,
        at,
        stream,
        bytes: end - offset,
        text: line.text.endsWith('\r') ? line.text.slice(0, -1) : line.text,
      },
    ]
  }
}

/** How many bytes a part of a text has in UTF-8. */
function utf8Length(text: string, from: number, to: number): number {
  let bytes = 0
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) bytes += 1
    else if (unit < 0x800) bytes += 2
    // Each half of a pair: together they are four bytes.
    else if (unit >= 0xd800 && unit <= 0xdfff) bytes += 2
    else bytes += 3
  }
  return bytes
}
