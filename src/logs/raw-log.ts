import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type FreeSpace, type LogLimits, NOTICES } from './limits.ts'
import type { OpenLog } from './pages.ts'
import { bytesOf, firstBytes, type Piece, piecesOf, WriteQueue, wholeUntil } from './pieces.ts'
import { type LogEntry, type LogSpan, LogUnavailable } from './protocol.ts'
import { encodeSpan, readAt, SPAN_BYTES, spanCount, spansBetween, spansFrom } from './spans.ts'

/**
 * A log while its run is in progress: the plain text in one file, its spans in another. A span is written before its text,
 * so a crash in between may leave a span without its text: it is cut to the existing text. In the other order, the stream of
 * the text would be unknown.
 */

export const TEXT = '.log'
export const SPANS = '.spans'
export const TRUNCATED = '.truncated'

const isCode = (error: unknown, ...codes: string[]) =>
  codes.includes((error as NodeJS.ErrnoException)?.code ?? '')
export const isMissing = (error: unknown) => isCode(error, 'ENOENT')
const isFull = (error: unknown) => isCode(error, 'ENOSPC', 'EDQUOT', 'EFBIG')

/** Null when there is no such file. */
async function openIfThere(path: string, flags: number = constants.O_RDONLY): Promise<FileHandle | null> {
  try {
    return await open(path, flags)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Each handle is null when its file does not exist. */
export async function openBoth(first: string, second: string) {
  const one = await openIfThere(first)
  try {
    const other = await openIfThere(second)
    const close = async () => void (await Promise.all([one?.close(), other?.close()]))
    return [one, other, close] as const
  } catch (error) {
    await one?.close()
    throw error
  }
}

interface Size {
  bytes: number
  spans: number
}

/** What to write of some pieces, with the lines that report what is missing. */
interface Fitting {
  pieces: readonly Piece[]
  lostBytes: number
  isCapped: boolean
}

export class RawLog {
  readonly #path: string
  readonly #limits: LogLimits
  readonly #space: FreeSpace
  readonly #queue = new WriteQueue((pieces) => this.#write(pieces))
  /** What is acknowledged; null until the files were read, and after an error with them. */
  #size: Size | null = null
  #isClosed = false
  #lostBytes = 0
  #isTruncated = false
  #isMarked = false
  /** It has reached its limit: nothing more is added. */
  #isCapped = false
  #isShortOfSpace = false

  /** `path` is the path of all its files without their endings. */
  constructor(path: string, limits: LogLimits, space: FreeSpace) {
    this.#path = path
    this.#limits = limits
    this.#space = space
  }

  /** Idempotent: keeps existing files. */
  async create(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 })
        // The text last: if it exists, the log exists.
        for (const ending of [SPANS, TEXT])
          await writeFile(this.#path + ending, '', { flag: 'a', mode: 0o600 })
        return
      } catch (error) {
        // Deleting the last log of an agent removes the empty folder too, possibly at this moment.
        if (!isMissing(error) || attempt === 5) throw error
      }
    }
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  async append(entries: readonly LogEntry[]): Promise<void> {
    if (this.#isClosed) throw new LogUnavailable('The log is finished: nothing can be added to it.')
    const pieces = piecesOf(entries)
    if (pieces.length > 0) await this.#queue.add(pieces)
  }

  /** Accepts no more entries, and repairs what a crash may have left. Null when there is no such log. */
  async close(): Promise<{ isTruncated: boolean } | null> {
    this.#isClosed = true
    await this.#queue.settled()
    const isThere = await this.#withFiles((text, spans) => repair(text, spans))
    if (!isThere) return null
    const mark = await stat(this.#path + TRUNCATED).catch(() => null)
    return { isTruncated: this.#isTruncated || mark !== null }
  }

  /** Opens it for reading up to what is acknowledged. Null when there is no such log. */
  async open(isFinal: boolean): Promise<OpenLog | null> {
    const [text, spans, close] = await openBoth(this.#path + TEXT, this.#path + SPANS)
    if (!text) {
      await close()
      return null
    }
    const bytes = this.#size?.bytes ?? (await text.stat()).size
    return {
      bytes,
      isFinal,
      textAt: (from, to) => readAt(text, from, Math.min(to, bytes)),
      spansAt: async (from, to) => (spans ? spansBetween(spans, from, Math.min(to, bytes)) : []),
      close,
    }
  }

  async #write(pieces: readonly Piece[]): Promise<void> {
    if (this.#isCapped) return
    const isThere = await this.#withFiles(async (text, spans) => {
      this.#size ??= await repair(text, spans)
      const size = this.#size
      const fitting = await this.#fitting(pieces, size.bytes)
      try {
        if (fitting.pieces.length > 0) this.#size = await appendPieces(size, text, spans, fitting.pieces)
        this.#lostBytes = fitting.lostBytes
        this.#isCapped = fitting.isCapped
      } catch (error) {
        await rollBack(size, text, spans).catch(() => {
          this.#size = null
        })
        if (!isFull(error)) throw error
        this.#lostBytes += bytesOf(pieces)
      }
      this.#isTruncated ||= this.#isCapped || this.#lostBytes > 0
      if (this.#isTruncated) await this.#mark()
    })
    if (!isThere) throw new LogUnavailable('The log was deleted: nothing can be added to it.')
  }

  async #fitting(pieces: readonly Piece[], bytes: number): Promise<Fitting> {
    const { maxBytes, minFreeBytes } = this.#limits
    const { ts } = pieces[0]!
    const lost = this.#lostBytes
    const wasShort = this.#isShortOfSpace
    this.#isShortOfSpace = !(await this.#space.hasRoomFor(bytesOf(pieces)))
    if (this.#isShortOfSpace)
      return {
        pieces: wasShort ? [] : [NOTICES.shortOfSpace(ts, minFreeBytes)],
        lostBytes: lost + bytesOf(pieces),
        isCapped: false,
      }
    // An earlier process has already written the notice.
    if (bytes > maxBytes) return { pieces: [], lostBytes: 0, isCapped: true }
    const all = lost === 0 ? pieces : [NOTICES.lost(ts, lost), ...pieces]
    const fits = firstBytes(all, maxBytes - bytes)
    if (bytesOf(fits) === bytesOf(all)) return { pieces: all, lostBytes: 0, isCapped: false }
    return { pieces: [...fits, NOTICES.reachedLimit(ts, maxBytes)], lostBytes: 0, isCapped: true }
  }

  /** For the process that finishes the log if this one ends. On a full disk this may have to be retried. */
  async #mark(): Promise<void> {
    if (this.#isMarked) return
    this.#isMarked = await writeFile(this.#path + TRUNCATED, '', { mode: 0o600 }).then(
      () => true,
      () => false,
    )
  }

  async #withFiles(act: (text: FileHandle, spans: FileHandle) => Promise<unknown>): Promise<boolean> {
    const toAppend = constants.O_RDWR | constants.O_APPEND
    const text = await openIfThere(this.#path + TEXT, toAppend)
    if (!text) return false
    try {
      const spans = await open(this.#path + SPANS, toAppend | constants.O_CREAT, 0o600)
      try {
        await act(text, spans)
      } finally {
        await spans.close()
      }
    } finally {
      await text.close()
    }
    return true
  }
}

async function appendPieces(
  size: Size,
  text: FileHandle,
  spans: FileHandle,
  pieces: readonly Piece[],
): Promise<Size> {
  let bytes = size.bytes
  const lines = pieces.map(({ stream, ts, text: { length } }) => {
    const line = encodeSpan({ offset: bytes, bytes: length, stream, ts })
    bytes += length
    return line
  })
  await writeAll(spans, Buffer.from(lines.join('')))
  await writeAll(
    text,
    pieces.length === 1 ? pieces[0]!.text : Buffer.concat(pieces.map((piece) => piece.text)),
  )
  return { bytes, spans: size.spans + lines.length }
}

async function writeAll(file: FileHandle, buffer: Buffer): Promise<void> {
  for (let done = 0; done < buffer.length; )
    done += (await file.write(buffer, done, buffer.length - done)).bytesWritten
}

/** Removes a partial write: an append is stored completely or not at all. */
async function rollBack(size: Size, text: FileHandle, spans: FileHandle): Promise<void> {
  await text.truncate(size.bytes)
  await spans.truncate(size.spans * SPAN_BYTES)
}

/** Makes text and spans consistent again after a crash at any point. */
async function repair(text: FileHandle, spans: FileHandle): Promise<Size> {
  const { size, mtime } = await text.stat()
  const tail = await readAt(text, Math.max(0, size - 4), size)
  const bytes = size - tail.length + wholeUntil(tail, tail.length)
  if (bytes < size) await text.truncate(bytes)
  let count = await spanCount(spans)
  let last: LogSpan | undefined
  for (; count > 0; count--) {
    last = await spansFrom(spans, count - 1, 1).then(
      ([span]) => span,
      () => undefined,
    )
    if (last && last.offset < bytes) break
    last = undefined
  }
  const covered = last ? last.offset + last.bytes : 0
  const repaired: LogSpan[] = []
  if (last && covered > bytes) {
    count--
    repaired.push({ ...last, bytes: bytes - last.offset })
  }
  if (covered < bytes)
    repaired.push({ offset: covered, bytes: bytes - covered, stream: 'system', ts: mtime.toISOString() })
  await spans.truncate(count * SPAN_BYTES)
  await writeAll(spans, Buffer.from(repaired.map(encodeSpan).join('')))
  return { bytes, spans: count + repaired.length }
}
