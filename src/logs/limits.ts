import { statfs } from 'node:fs/promises'
import type { Piece } from './pieces.ts'

/** How much of a run's output is stored. Output beyond that is read and parsed like the rest, but not stored. */

export interface LogLimits {
  /** The limit of one log. The line that reports the limit comes on top. */
  maxBytes: number
  /** Logs leave this much of the disk free: the database is usually on the same disk. */
  minFreeBytes: number
  /** The free space of the disk that holds a folder. */
  freeBytes: (folder: string) => Promise<number>
  /** The free space is checked each time this much was written; while it is short, before every write. */
  checkEveryBytes: number
}

export const USUAL_LIMITS: LogLimits = {
  maxBytes: 256 * 1024 * 1024,
  minFreeBytes: 1024 * 1024 * 1024,
  freeBytes: async (folder) => {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  },
  checkEveryBytes: 1024 * 1024,
}

/** Whether the disk has room for more output: one for all logs in a folder. */
export class FreeSpace {
  readonly #folder: string
  readonly #limits: LogLimits
  #sinceCheck = Number.POSITIVE_INFINITY
  #isShort = false

  constructor(folder: string, limits: LogLimits) {
    this.#folder = folder
    this.#limits = limits
  }

  async hasRoomFor(bytes: number): Promise<boolean> {
    const { minFreeBytes, freeBytes, checkEveryBytes } = this.#limits
    if (minFreeBytes === 0) return true
    this.#sinceCheck += bytes
    if (this.#isShort || this.#sinceCheck >= checkEveryBytes) {
      this.#sinceCheck = 0
      // If the free space cannot be read, write until the disk refuses.
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

/** Lines of Baton in a log that show the reader what is missing, and why. */
export const NOTICES = {
  reachedLimit: (ts: string, maxBytes: number) =>
    notice(ts, `The log ends here: it reached its limit of ${maxBytes} bytes. The run continued.`),
  shortOfSpace: (ts: string, minFreeBytes: number) =>
    notice(ts, `Output is not stored from here on: less than ${minFreeBytes} bytes of disk are free.`),
  lost: (ts: string, bytes: number) =>
    notice(ts, `${bytes} bytes of output could not be stored: the disk was full`),
}
