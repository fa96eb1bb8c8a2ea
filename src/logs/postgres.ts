import { createHash } from 'node:crypto'
import { z } from 'zod'
import { FreeSpace, type LogLimits, NOTICES, USUAL_LIMITS } from './limits.ts'
import { type OpenLog, pageOf, streamOf } from './pages.ts'
import { bytesOf, firstBytes, InTurn, type Piece, piecesOf } from './pieces.ts'
import {
  type LogStream,
  type LogSummary,
  LogUnavailable,
  type RunLogHandle,
  type RunLogStore,
} from './protocol.ts'

/**
 * Logs in the database, for houses with nothing else that lasts. It is not made for much: what goes beyond 5 MiB, or beyond
 * the limit of all logs if that is less, is not kept, and the log says so.
 */

interface LogChunk {
  offset: number
  stream: LogStream
  ts: string
  content: Buffer
}

/** Where the rows are. A note is kept as it was first made; `begun` is the first of a log. */
export interface LogRows {
  /** Fails when there is something at this place already: somebody else writes the same log. */
  append(workspaceId: number, runId: string, chunks: readonly LogChunk[]): Promise<void>
  note(workspaceId: number, runId: string, note: LogNote, content: string): Promise<void>
  status(
    workspaceId: number,
    runId: string,
  ): Promise<{ bytes: number; notes: Partial<Record<LogNote, string>> }>
  /** Those with bytes in this range, in order. */
  between(workspaceId: number, runId: string, from: number, to: number): Promise<LogChunk[]>
  delete(workspaceId: number, runId: string): Promise<void>
}

type LogNote = 'begun' | 'truncated' | 'final'

const MOST_BYTES = 5 * 1024 * 1024
/** So that a page need not read much more than its own bytes. */
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
  /** A log has room for 5 MiB at most, unless `mostBytes` says otherwise. */
  limits?: LogLimits
  mostBytes?: number
  /** Where the database itself lies, if that is on this machine. */
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
      log = new WrittenLog(rows, placeOf(logRef), bounds)
      written.set(logRef, log)
    }
    return log
  }
  const opened = ({ logRef }: RunLogHandle) => openLog(rows, placeOf(logRef))

  return {
    type: 'postgres',

    async begin({ workspaceId, runId }) {
      const logRef = `${workspaceId}/${runId}`
      await rows.note(...placeOf(logRef), 'begun', '')
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
      return finish(rows, placeOf(logRef))
    },

    read: async (handle, range) => pageOf(await opened(handle), range),
    stream: (handle, stream) => streamOf(() => opened(handle), stream),

    async delete({ logRef }) {
      written.delete(logRef)
      await rows.delete(...placeOf(logRef))
    },
  }
}

function placeOf(logRef: string): LogKey {
  const parsed = Ref.safeParse(logRef.split('/'))
  if (!parsed.success)
    throw new LogUnavailable('There is no such log: its reference is not one of this store.')
  return parsed.data
}

interface Bounds {
  maxBytes: number
  minFreeBytes: number
  space: FreeSpace | null
}

/** A log that this process writes. */
class WrittenLog {
  readonly #rows: LogRows
  readonly #place: LogKey
  readonly #bounds: Bounds
  readonly #inTurn = new InTurn((pieces) => this.#write(pieces))
  /** Null until the database was asked, and after a write whose outcome is not known. */
  #bytes: number | null = null
  #isTruncated = false

  constructor(rows: LogRows, place: LogKey, bounds: Bounds) {
    this.#rows = rows
    this.#place = place
    this.#bounds = bounds
  }

  append(pieces: Piece[]): Promise<void> {
    return this.#inTurn.add(pieces)
  }

  settled(): Promise<void> {
    return this.#inTurn.settled()
  }

  async #write(pieces: readonly Piece[]): Promise<void> {
    if (this.#isTruncated) return
    const bytes = this.#bytes ?? (await this.#readStatus())
    if (this.#isTruncated) return
    const kept = await this.#keepOf(pieces, bytes)
    this.#bytes = null
    if (kept.pieces.length > 0) await this.#rows.append(...this.#place, chunksOf(kept.pieces, bytes))
    this.#bytes = bytes + bytesOf(kept.pieces)
    if (kept.isAll) return
    await this.#rows.note(...this.#place, 'truncated', '')
    this.#isTruncated = true
  }

  async #keepOf(pieces: readonly Piece[], bytes: number): Promise<{ pieces: Piece[]; isAll: boolean }> {
    const { maxBytes, minFreeBytes, space } = this.#bounds
    const { ts } = pieces[0]!
    if (space && !(await space.hasRoomFor(bytesOf(pieces))))
      return { pieces: [NOTICES.shortOfSpace(ts, minFreeBytes)], isAll: false }
    const fits = firstBytes(pieces, maxBytes - bytes)
    if (bytesOf(fits) === bytesOf(pieces)) return { pieces: fits, isAll: true }
    return { pieces: [...fits, NOTICES.reachedLimit(ts, maxBytes)], isAll: false }
  }

  async #readStatus(): Promise<number> {
    const { bytes, notes } = await this.#rows.status(...this.#place)
    if (notes.begun === undefined) throw new LogUnavailable('The log is gone: nothing can be added to it.')
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

async function openLog(rows: LogRows, place: LogKey): Promise<OpenLog> {
  const { bytes: written, notes } = await rows.status(...place)
  if (notes.begun === undefined) throw new LogUnavailable('The log is gone.')
  // What somebody adds who does not know yet that the log is finished does not count.
  const bytes = notes.final === undefined ? written : readFinal(notes.final).bytes
  let last: { from: number; to: number; chunks: LogChunk[] } | null = null
  // The spans of a page are asked for right after its text: the rows are the same.
  const between = async (from: number, to: number) => {
    if (!last || from < last.from || to > last.to)
      last = { from, to, chunks: from < to ? await rows.between(...place, from, to) : [] }
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

async function finish(rows: LogRows, place: LogKey): Promise<LogSummary> {
  const { bytes, notes } = await rows.status(...place)
  if (notes.begun === undefined) throw new LogUnavailable('The log is gone.')
  if (notes.final !== undefined) return { ...readFinal(notes.final), compressed: false }
  const hash = createHash('sha256')
  const log = await openLog(rows, place)
  for (let at = 0; at < bytes; at += HASHED_AT_ONCE)
    hash.update(await log.textAt(at, Math.min(bytes, at + HASHED_AT_ONCE)))
  const truncated = notes.truncated !== undefined
  await rows.note(...place, 'final', JSON.stringify({ bytes, sha256: hash.digest('hex'), truncated }))
  // Of two who finish it at once, the first has said how it ended.
  return finish(rows, place)
}
