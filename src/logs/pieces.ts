import type { LogEntry, LogStream } from './protocol.ts'

/** Bytes of one stream, as they are stored. */
export interface Piece {
  stream: LogStream
  ts: string
  text: Buffer
}

/** Joins consecutive entries of a stream into one piece with the time of the first: each line alone would cost a span. */
export function piecesOf(entries: readonly LogEntry[]): Piece[] {
  const pieces: { stream: LogStream; ts: string; chunks: string[] }[] = []
  for (const { stream, chunk, ts } of entries) {
    if (chunk === '') continue
    const last = pieces.at(-1)
    if (last?.stream === stream) last.chunks.push(chunk)
    else pieces.push({ stream, ts: new Date(ts).toISOString(), chunks: [chunk] })
  }
  return pieces.map(({ stream, ts, chunks }) => ({ stream, ts, text: Buffer.from(chunks.join('')) }))
}

export const bytesOf = (pieces: readonly Piece[]) => pieces.reduce((sum, { text }) => sum + text.length, 0)

/** As much as fits, in whole characters. */
export function firstBytes(pieces: readonly Piece[], room: number): Piece[] {
  const fits: Piece[] = []
  let left = room
  for (const piece of pieces) {
    const end = wholeUntil(piece.text, Math.max(0, Math.min(left, piece.text.length)))
    const text = piece.text.subarray(0, end)
    if (text.length > 0) fits.push({ ...piece, text })
    if (text.length < piece.text.length) break
    left -= text.length
  }
  return fits
}

const isInside = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** How many bytes at the start belong to a character that began before. */
export function brokenAtStart(text: Buffer): number {
  let at = 0
  while (at < 3 && isInside(text[at])) at++
  return at
}

/** The last position, not after `end`, where a character begins or all characters are complete. */
export function wholeUntil(text: Buffer, end: number): number {
  let start = end
  while (start > 0 && end - start < 4 && isInside(text[start])) start--
  if (start < end || start < text.length) return start
  // At the very end of the available text, the last character may be cut off.
  for (let back = 1; back <= 3 && back <= end; back++) {
    const byte = text[end - back]!
    if (isInside(byte)) continue
    return charactersBytes(byte) > back ? end - back : end
  }
  return end
}

/** The length in bytes of a character that begins with this byte. */
export const charactersBytes = (first: number) =>
  first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1

/** Writes in the order of the calls; what waits is written in one batch. */
export class WriteQueue {
  readonly #write: (pieces: Piece[]) => Promise<void>
  #waiting: { pieces: Piece[]; done: () => void; failed: (error: unknown) => void }[] = []
  #writing: Promise<void> | null = null

  constructor(write: (pieces: Piece[]) => Promise<void>) {
    this.#write = write
  }

  add(pieces: Piece[]): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ pieces, done, failed })
      this.#writing ??= this.#writeAll()
    })
  }

  /** Resolves when everything added so far is written or has failed. */
  async settled(): Promise<void> {
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      await this.#write(batch.flatMap(({ pieces }) => pieces)).then(
        () => batch.forEach(({ done }) => void done()),
        (error) => batch.forEach(({ failed }) => void failed(error)),
      )
    }
    this.#writing = null
  }
}
