import { statfs } from 'node:fs/promises'
import type { Piece } from './pieces.ts'

/** How much of a run's output is kept. What goes beyond is read and understood like the rest, but not stored. */

export interface LogLimits {
  /** Of one log. The line that says that it was reached comes on top. */
  maxBytes: number
  /** So much of the disk stays free of logs: the database mostly lies on the same one. */
  minFreeBytes: number
  /** Of the disk on which a folder lies. */
  freeBytes: (folder: string) => Promise<number>
  /** The disk is looked at again when so much was written; while it is short of space, before every write. */
  lookEveryBytes: number
}

export const USUAL_LIMITS: LogLimits = {
  maxBytes: 256 * 1024 * 1024,
  minFreeBytes: 1024 * 1024 * 1024,
  freeBytes: async (folder) => {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  },
  lookEveryBytes: 1024 * 1024,
}

/** Whether the disk has room for more output: one for all logs in a folder. */
export class FreeSpace {
  readonly #folder: string
  readonly #limits: LogLimits
  #sinceLook = Number.POSITIVE_INFINITY
  #isShort = false

  constructor(folder: string, limits: LogLimits) {
    this.#folder = folder
    this.#limits = limits
  }

  async hasRoomFor(bytes: number): Promise<boolean> {
    const { minFreeBytes, freeBytes, lookEveryBytes } = this.#limits
    if (minFreeBytes === 0) return true
    this.#sinceLook += bytes
    if (this.#isShort || this.#sinceLook >= lookEveryBytes) {
      this.#sinceLook = 0
      // A disk that cannot be asked is written to until it refuses.
      const free = await freeBytes(this.#folder).catch(() => Number.POSITIVE_INFINITY)
      this.#isShort = free < minFreeBytes
    }
    return !this.#isShort
  }
}

const notice = (ts: string, sentence: string): Piece => ({
  stream: 'system',
  ts,
  text: Buffer.from(`\n[${sentence}]\n`),
})

/** Baton's own lines in a log, so that who reads it sees that something is missing, and why. */
export const NOTICES = {
  reachedLimit: (ts: string, maxBytes: number) =>
    notice(ts, `The log ends here: it has the ${maxBytes} bytes it may have. The run went on.`),
  shortOfSpace: (ts: string, minFreeBytes: number) =>
    notice(ts, `Output is not kept from here on: less than ${minFreeBytes} bytes of disk are free.`),
  lost: (ts: string, bytes: number) =>
    notice(ts, `${bytes} bytes of output could not be kept: the disk was full`),
}
