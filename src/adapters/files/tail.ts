import { constants } from 'node:fs'
import { type FileHandle, lstat, open } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'
import { Lines } from '../child/lines.ts'

/**
 * Reads what is added to a file that a program writes. The program's agent may write to it, replace it or link it elsewhere: only
 * regular files are opened, never waited for, and what is read at a time is limited.
 */

const PIECE_BYTES = 64 * 1024
/** A line with a count is short, except where it has the answer, too. */
const LONGEST_LINE = 1024 * 1024
/** After this no more is read of a file: no run of a program writes as much. */
const MOST_BYTES = 1024 * 1024 * 1024
/** What is read of what stood there before. */
const MOST_BEFORE_BYTES = 16 * 1024 * 1024

// A link in its place is not followed, and a pipe there cannot block.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

export class Tail {
  readonly #path: string
  #offset = 0
  #inode: number | null = null
  #modified = -1
  #read = 0
  #lines = new Lines(LONGEST_LINE)
  #decoder = new StringDecoder('utf8')
  /** All that stood there before the run was read, so what is read twice is recognised. */
  #isKnown = true

  constructor(path: string) {
    this.#path = path
  }

  /** Reads what is there already: what comes later is what the run writes. */
  async skip(take: (line: string) => void): Promise<void> {
    const there = await lstat(this.#path).catch((error) => (error.code === 'ENOENT' ? null : error))
    if (there === null) return
    // Until it has been read, all of it would be taken for new.
    this.#read = MOST_BYTES
    await this.#open(async (file, { size, ino }) => {
      this.#isKnown = size <= MOST_BEFORE_BYTES
      const lines = new Lines(LONGEST_LINE)
      const decoder = new StringDecoder('utf8')
      // The first line may be the rest of one.
      let isRest = !this.#isKnown
      const from = Math.max(0, size - MOST_BEFORE_BYTES)
      await pieces(file, from, size, (piece) => {
        for (const line of lines.take(decoder.write(piece))) {
          if (!isRest) take(line)
          isRest = false
        }
      })
      this.#offset = size
      this.#inode = ino
      this.#read = 0
    })
  }

  /** Passes the lines that were added; an unfinished one waits. */
  async read(take: (line: string) => void, mostBytes: number): Promise<void> {
    if (this.#read >= MOST_BYTES) return
    const now = await lstat(this.#path).catch(() => null)
    if (!now?.isFile()) return
    if (now.ino === this.#inode && now.size === this.#offset && now.mtimeMs === this.#modified) return
    await this.#open(async (file, { size, ino, mtimeMs }) => {
      if (size < this.#offset || (this.#inode !== null && ino !== this.#inode)) this.#restart(size)
      this.#inode = ino
      this.#modified = mtimeMs
      const to = Math.min(size, this.#offset + mostBytes)
      await pieces(file, this.#offset, to, (piece) => {
        this.#offset += piece.length
        this.#read += piece.length
        for (const line of this.#lines.take(this.#decoder.write(piece))) take(line)
      })
    })
  }

  /** It was cut or replaced. Where not all of what stood there is known, what is there now may be old. */
  #restart(size: number): void {
    this.#offset = this.#isKnown ? 0 : size
    this.#lines = new Lines(LONGEST_LINE)
    this.#decoder = new StringDecoder('utf8')
  }

  /** What cannot be read now is tried again with the next call. */
  async #open(
    act: (file: FileHandle, stats: { size: number; ino: number; mtimeMs: number }) => Promise<void>,
  ): Promise<void> {
    const file = await open(this.#path, FLAGS).catch(() => null)
    if (!file) return
    try {
      const stats = await file.stat()
      if (stats.isFile()) await act(file, stats)
    } catch {
      // Unreadable, or gone while it was read.
    } finally {
      await file.close().catch(() => undefined)
    }
  }
}

/** Piece by piece, so that other work comes between. */
async function pieces(
  file: FileHandle,
  from: number,
  to: number,
  take: (piece: Buffer) => void,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES)
  for (let at = from; at < to; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(PIECE_BYTES, to - at), at)
    if (bytesRead === 0) return
    at += bytesRead
    take(buffer.subarray(0, bytesRead))
  }
}
