import type { BigIntStats } from 'node:fs'
import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { isSecretValue, secretsInJson } from '../pure/secrets/values.ts'

/** The file in which an agent's program keeps its login. Programs renew their tokens in the middle of a run. */

const LARGEST_BYTES = 64 * 1024
/** File systems count time in steps of up to two seconds: within a step, two different contents can have the same time. */
const LONGEST_TIME_STEP_MS = 2_000

export class LoginFile {
  readonly #path: string
  #seen: BigIntStats | null = null
  #isSettled = false
  #text: string | null = null

  constructor(path: string) {
    this.#path = path
  }

  /** The tokens in it, if it has changed since the last call; null: it has not, or cannot be read. */
  async renewed(): Promise<string[] | null> {
    try {
      const now = await stat(this.#path, { bigint: true })
      if (this.#isSettled && this.#seen && isSame(now, this.#seen)) return null
      const text = now.isFile() ? await this.#read() : null
      if (text === null || text === this.#text) return null
      this.#text = text
      return tokensIn(text)
    } catch {
      // There is no such file, or it is being written: then it changes once more.
      return null
    }
  }

  async #read(): Promise<string | null> {
    // Does not wait if it has become a pipe.
    const file = await open(this.#path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      // Before the content: what is written in between is read now, and once more.
      this.#seen = await file.stat({ bigint: true })
      this.#isSettled = Date.now() - Number(this.#seen.mtimeMs) > LONGEST_TIME_STEP_MS
      return this.#seen.isFile() ? await textOf(file) : null
    } finally {
      await file.close()
    }
  }
}

/** What is in it, as JSON; null: it cannot be read. */
export async function readLogin(path: string): Promise<unknown> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const text = (await file.stat()).isFile() ? await textOf(file) : null
      return text === null ? null : JSON.parse(text)
    } finally {
      await file.close()
    }
  } catch {
    return null
  }
}

async function textOf(file: FileHandle): Promise<string | null> {
  const buffer = Buffer.alloc(LARGEST_BYTES + 1)
  let length = 0
  for (;;) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length)
    length += bytesRead
    if (length > LARGEST_BYTES) return null
    if (bytesRead === 0) return buffer.toString('utf8', 0, length)
  }
}

const isSame = (a: BigIntStats, b: BigIntStats) =>
  a.mtimeNs === b.mtimeNs &&
  a.ctimeNs === b.ctimeNs &&
  a.size === b.size &&
  a.ino === b.ino &&
  a.dev === b.dev

/** opencode calls its tokens `access` and `refresh`. */
const tokensIn = (text: string) =>
  secretsInJson(
    JSON.parse(text),
    (name, value) => /^(?:access|refresh)$/i.test(name) || isSecretValue(name, value),
  )
