import { createHash } from 'node:crypto'
import { z } from 'zod'
import { FreeSpace, type LogLimits, NOTICES, USUAL_LIMITS } from './limits.ts'
import { type OpenLog, pageOf, streamOf } from './pages.ts'
import { bytesOf, firstBytes, type Piece, piecesOf, WriteQueue } from './pieces.ts'
import {
  type LogStream,
  type LogSummary,
  LogUnavailable,
  type RunLogHandle,
  type RunLogStore,
} from './protocol.ts'

/**
 * Logs in the database, for clusters without other durable storage. It is not meant for large logs: output beyond 5 MiB, or
 * beyond the general log limit if that is less, is not stored, and the log says so.
 */

interface LogChunk {
  offset: number
  stream: LogStream
  ts: string
  content: Buffer
}

/** Access to the rows. A note keeps its first value; `begun` is the first note of a log. */
export interface LogRows {
  /** Fails when the offset is taken: another process writes the same log. */
  append(workspaceId: number, runId: string, chunks: readonly LogChunk[]): Promise<void>
  note(workspaceId: number, runId: string, note: LogNote, content: string): Promise<void>
  status(
    workspaceId: number,
    runId: string,
  ): Promise<{ bytes: number; notes: Partial<Record<LogNote, string>> }>
  /** The chunks with bytes in this range, in order. */
  between(workspaceId: number, runId: string, from: number, to: number): Promise<LogChunk[]>
  delete(workspaceId: number, runId: string): Promise<void>
}

type LogNote = 'begun' | 'truncated' | 'final'

const MOST_BYTES = 5 * 1024 * 1024
/** A page must not read much more than its own bytes. */
const LARGEST_CHUNK = 128 * 1024
const HASHED_AT_ONCE = 1024 * 1024

const Ref = z.tuple([
  z
    .string()
    .regex(/^\d{1,10}$/)
    .transform(Number),
  z.uuid(),
])
const Final = z.object({ bytes: z.number(), sha256: z.string(), truncated: z.boolean() })
type LogKey = [workspaceId: number, runId: string]

interface Options {
  /** A log holds at most 5 MiB, unless `mostBytes` is set. */
  limits?: LogLimits
  mostBytes?: number
  /** The folder of the database, if it is on this machine. */
  folder?: string | null
}

export function postgresStore(
  rows: LogRows,
  { limits = USUAL_LIMITS, mostBytes = MOST_BYTES, folder = null }: Options = {},
): RunLogStore {
  const bounds = {
    maxBytes: Math.min(limits.maxBytes, mostBytes),
    minFreeBytes: limits.minFreeBytes,
    space: folder === null ? null : new FreeSpace(folder, limits),
  }
  const written = new Map<string, WrittenLog>()
  const logAt = (logRef: string) => {
    let log = written.get(logRef)
    if (!log) {
      log = new WrittenLog(rows, keyOf(logRef), bounds)
      written.set(logRef, log)
    }
    return log
  }
  const opened = ({ logRef }: RunLogHandle) => openLog(rows, keyOf(logRef))

  return {
    type: 'postgres',

    async begin({ workspaceId, runId }) {
      const logRef = `${workspaceId}/${runId}`
      await rows.note(...keyOf(logRef), 'begun', '')
      return { store: 'postgres', logRef }
    },

    async append({ logRef }, entries) {
      const pieces = piecesOf(entries)
      if (pieces.length === 0) return
      await logAt(logRef)
        .append(pieces)
        .catch((error) => {
          if (error instanceof LogUnavailable) written.delete(logRef)
          throw error
        })
    },

    async finalize({ logRef }) {
      await written.get(logRef)?.settled()
      written.delete(logRef)
      return finish(rows, keyOf(logRef))
    },

    read: async (handle, range) => pageOf(await opened(handle), range),
    stream: (handle, stream) => streamOf(() => opened(handle), stream),

    async delete({ logRef }) {
      written.delete(logRef)
      await rows.delete(...keyOf(logRef))
    },
  }
}

function keyOf(logRef: string): LogKey {
  const parsed = Ref.safeParse(logRef.split('/'))
  if (!parsed.success)
    throw new LogUnavailable('There is no such log: the reference does not belong to this store.')
  return parsed.data
}

interface Bounds {
  maxBytes: number
  minFreeBytes: number
  space: FreeSpace | null
}

/** A log that this process is writing. */
class WrittenLog {
  readonly #rows: LogRows
  readonly #key: LogKey
  readonly #bounds: Bounds
  readonly #queue = new WriteQueue((pieces) => this.#write(pieces))
  /** Null until read from the database, and after a write with unknown outcome. */
  #bytes: number | null = null
  #isTruncated = false

  constructor(rows: LogRows, key: LogKey, bounds: Bounds) {
    this.#rows = rows
    this.#key = key
    this.#bounds = bounds
  }

  append(pieces: Piece[]): Promise<void> {
    return this.#queue.add(pieces)
  }

  settled(): Promise<void> {
    return this.#queue.settled()
  }

  async #write(pieces: readonly Piece[]): Promise<void> {
    if (this.#isTruncated) return
    const bytes = this.#bytes ?? (await this.#readStatus())
    if (this.#isTruncated) return
    const kept = await this.#fitting(pieces, bytes)
    this.#bytes = null
    if (kept.pieces.length > 0) await this.#rows.append(...this.#key, chunksOf(kept.pieces, bytes))
    this.#bytes = bytes + bytesOf(kept.pieces)
    if (kept.isAll) return
    await this.#rows.note(...this.#key, 'truncated', '')
    this.#isTruncated = true
  }

  async #fitting(pieces: readonly Piece[], bytes: number): Promise<{ pieces: Piece[]; isAll: boolean }> {
    const { maxBytes, minFreeBytes, space } = this.#bounds
    const { ts } = pieces[0]!
    if (space && !(await space.hasRoomFor(bytesOf(pieces))))
      return { pieces: [NOTICES.shortOfSpace(ts, minFreeBytes)], isAll: false }
    const fits = firstBytes(pieces, maxBytes - bytes)
    if (bytesOf(fits) === bytesOf(pieces)) return { pieces: fits, isAll: true }
    return { pieces: [...fits, NOTICES.reachedLimit(ts, maxBytes)], isAll: false }
  }

  async #readStatus(): Promise<number> {
    const { bytes, notes } = await this.#rows.status(...this.#key)
    if (notes.begun === undefined)
      throw new LogUnavailable('The log was deleted: nothing can be added to it.')
    if (notes.final !== undefined)
      throw new LogUnavailable('The log is finished: nothing can be added to it.')
    this.#isTruncated = notes.truncated !== undefined
    return bytes
  }
}

function chunksOf(pieces: readonly Piece[], offset: number): LogChunk[] {
  const chunks: LogChunk[] = []
  for (const { stream, ts, text } of pieces)
    for (let at = 0; at < text.length; at += LARGEST_CHUNK) {
      const content = text.subarray(at, at + LARGEST_CHUNK)
      chunks.push({ offset, stream, ts, content })
      offset += content.length
    }
  return chunks
}

async function openLog(rows: LogRows, key: LogKey): Promise<OpenLog> {
  const { bytes: written, notes } = await rows.status(...key)
  if (notes.begun === undefined) throw new LogUnavailable('The log was deleted.')
  // Chunks added by a writer that does not know yet that the log is finished do not count.
  const bytes = notes.final === undefined ? written : readFinal(notes.final).bytes
  let last: { from: number; to: number; chunks: LogChunk[] } | null = null
  // The spans of a page are read right after its text: the rows are the same.
  const between = async (from: number, to: number) => {
    if (!last || from < last.from || to > last.to)
      last = { from, to, chunks: from < to ? await rows.between(...key, from, to) : [] }
    return last.chunks.filter(({ offset, content }) => offset < to && offset + content.length > from)
  }
  return {
    bytes,
    isFinal: notes.final !== undefined,
    async textAt(from, to) {
      const end = Math.min(to, bytes)
      const chunks = await between(from, end)
      return Buffer.concat(
        chunks.map(({ offset, content }) => content.subarray(Math.max(0, from - offset), end - offset)),
      )
    },
    async spansAt(from, to) {
      const chunks = await between(from, Math.min(to, bytes))
      return chunks.map(({ offset, content, stream, ts }) => ({ offset, bytes: content.length, stream, ts }))
    },
    close: async () => undefined,
  }
}

const readFinal = (note: string) => Final.parse(JSON.parse(note))

async function finish(rows: LogRows, key: LogKey): Promise<LogSummary> {
  const { bytes, notes } = await rows.status(...key)
  if (notes.begun === undefined) throw new LogUnavailable('The log was deleted.')
  if (notes.final !== undefined) return { ...readFinal(notes.final), compressed: false }
  const hash = createHash('sha256')
  const log = await openLog(rows, key)
  for (let at = 0; at < bytes; at += HASHED_AT_ONCE)
    hash.update(await log.textAt(at, Math.min(bytes, at + HASHED_AT_ONCE)))
  const truncated = notes.truncated !== undefined
  await rows.note(...key, 'final', JSON.stringify({ bytes, sha256: hash.digest('hex'), truncated }))
  // If two processes finish it at once, the note of the first counts.
  return finish(rows, key)
}
