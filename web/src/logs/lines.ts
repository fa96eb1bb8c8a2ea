import { unitAfterBytes, utf8Bytes } from './utf8.ts'

/**
 * The text of a log as lines. Pages and live output are split separately and joined, so that the same bytes give the same lines,
 * wherever they were divided.
 */

export type LogStream = 'stdout' | 'stderr' | 'system'

export interface Line {
  /** Address of the line: its first byte in the log, which stays the same while the log grows. */
  readonly offset: number
  /** Length with its line end. */
  readonly bytes: number
  readonly stream: LogStream
  /** When its first byte was written, in ms; null: not known. */
  readonly at: number | null
  /** Text without its line end, with all control characters. */
  readonly raw: string
  /** It has no line end yet: what the same stream writes next continues it. */
  readonly isOpen: boolean
}

/** A part of the log that one stream wrote. */
export interface Piece {
  readonly offset: number
  readonly stream: LogStream
  readonly at: number | null
  readonly text: string
}

/** A page as the server sends it. */
export interface LogPageText {
  readonly offset: number
  readonly content: string
  readonly spans: readonly { offset: number; bytes: number; stream: string; ts: string }[]
}

/** Splits at line ends only. Carriage returns are settled when a line is shown. */
export function linesOf({ offset, stream, at, text }: Piece): Line[] {
  const lines: Line[] = []
  let start = offset
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from)
    const isOpen = end === -1
    const to = isOpen ? text.length : end
    const bytes = utf8Bytes(text, from, to) + (isOpen ? 0 : 1)
    lines.push({ offset: start, bytes, stream, at, raw: text.slice(from, to), isOpen })
    start += bytes
    from = to + 1
  }
  return lines
}

/** Two neighbouring parts as one. A line ends where another stream begins to write, so that each line has one stream. */
export function joined(before: readonly Line[], after: readonly Line[]): readonly Line[] {
  const last = before.at(-1)
  const first = after[0]
  if (!last || !first) return last ? before : after
  if (!last.isOpen || last.stream !== first.stream) return [...before, ...after]
  const whole: Line = {
    ...last,
    bytes: last.bytes + first.bytes,
    raw: last.raw + first.raw,
    isOpen: first.isOpen,
  }
  return [...before.slice(0, -1), whole, ...after.slice(1)]
}

/** Neighbouring pieces as lines. Joined pairwise, so that thousands of small pieces do not copy the whole each time. */
export function linesOfAll(stretches: readonly (readonly Line[])[]): readonly Line[] {
  if (stretches.length <= 1) return stretches[0] ?? []
  const middle = stretches.length >>> 1
  return joined(linesOfAll(stretches.slice(0, middle)), linesOfAll(stretches.slice(middle)))
}

const KNOWN_STREAMS: readonly string[] = ['stdout', 'stderr', 'system']
export const streamNamed = (name: string): LogStream =>
  KNOWN_STREAMS.includes(name) ? (name as LogStream) : 'stdout'

/** A page begins at its first span: a request for the middle of a character is answered from the next one on. */
export const startOf = ({ offset, spans }: LogPageText) => spans[0]?.offset ?? offset

/** A page by streams. */
export function piecesOf({ offset, content, spans }: LogPageText): Piece[] {
  if (spans.length === 0) return content === '' ? [] : [{ offset, stream: 'stdout', at: null, text: content }]
  const isAscii = spans.reduce((sum, { bytes }) => sum + bytes, 0) === content.length
  let from = 0
  return spans.map((span) => {
    const to = isAscii ? from + span.bytes : unitAfterBytes(content, from, span.bytes)
    const at = Date.parse(span.ts)
    const text = content.slice(from, to)
    from = to
    return { offset: span.offset, stream: streamNamed(span.stream), at: Number.isNaN(at) ? null : at, text }
  })
}

export const linesOfPage = (page: LogPageText): readonly Line[] => linesOfAll(piecesOf(page).map(linesOf))

/** The line that has this byte, or the last one before it; -1: all come after it. Lines are in order and without gaps. */
export function lineAt(lines: readonly Line[], offset: number): number {
  let low = 0
  let high = lines.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (lines[middle]!.offset <= offset) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** How many line ends there are in a text. */
export function lineEnds(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1
  return count
}
