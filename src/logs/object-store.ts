import { createReadStream } from 'node:fs'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { growingStore } from './growing-store.ts'
import { type LogLimits, USUAL_LIMITS } from './limits.ts'
import { type LogIndex, openFinished, Packing, readIndex, summaryOf } from './members.ts'
import type { OpenLog } from './pages.ts'
import { type LogSummary, LogUnavailable, type RunLogHandle, type RunLogStore } from './protocol.ts'
import { isMissing, SPANS, TEXT, TRUNCATED } from './raw-log.ts'
import { RawLogs } from './raw-logs.ts'
import { checkedRef } from './refs.ts'

/**
 * Logs in a bucket that all nodes can reach. While a run is in progress, its log is in a folder of its node. When the run is
 * over, the log is uploaded to the bucket, compressed unless told otherwise, its index last, and only then removed from the
 * folder. An unreachable bucket loses nothing: the log stays in the folder and is uploaded later.
 */

/** The operations of a bucket. Null: the object does not exist. */
export interface Bucket {
  put(key: string, pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void>
  read(key: string): Promise<Buffer | null>
  readRange(key: string, from: number, to: number): Promise<Buffer | null>
  bytes(key: string): Promise<number | null>
  delete(key: string): Promise<void>
  close(): void
}

export interface ObjectStore extends RunLogStore {
  /** Logs of finished runs that are not in the bucket yet: to be finalized again. */
  pending(): Promise<RunLogHandle[]>
}

/** The text in the bucket, compressed or not. */
const STORED = { gzip: '.log.gz', plain: TEXT }
const INDEX = '.json'
/** Mark in the folder: the log is complete and waits for its upload. */
const FINISHED = '.finished'
const RAW = [TEXT, SPANS, TRUNCATED, FINISHED]
/** An index never changes. This many are cached, since every page needs one. */
const MOST_INDEXES = 256

export function objectStore({
  bucket,
  spoolFolder,
  limits = USUAL_LIMITS,
  compress = true,
}: {
  bucket: Bucket
  spoolFolder: string
  limits?: LogLimits
  compress?: boolean
}): ObjectStore {
  const logs = new RawLogs(spoolFolder, limits)
  const finished = new FinishedLogs(bucket, compress)
  const store = growingStore('object_store', logs, {
    open: async (logRef) => (await openSpooled(logs, logRef)) ?? finished.open(checkedRef(logRef)),
    finish: (logRef) => finish(logs, finished, logRef),
    async remove(logRef) {
      await finished.delete(checkedRef(logRef))
      await logs.remove(logRef, RAW)
    },
  })
  return {
    ...store,
    async pending() {
      const names = await readdir(spoolFolder, { recursive: true }).catch((error) => {
        if (isMissing(error)) return []
        throw error
      })
      return names
        .filter((name) => name.endsWith(FINISHED))
        .map((name) => ({ store: 'object_store', logRef: name.slice(0, -FINISHED.length) }))
    },
  }
}

async function finish(logs: RawLogs, finished: FinishedLogs, logRef: string): Promise<LogSummary> {
  const closed = await logs.close(logRef)
  if (!closed) return summaryOf(await finished.index(checkedRef(logRef)))
  const path = logs.pathOf(logRef)
  const upload = async () => {
    await writeFile(path + FINISHED, '', { mode: 0o600 })
    return finished.upload(logRef, path, closed.isTruncated)
  }
  const index = await upload().catch(async (error) => {
    // If the text is gone, another process has uploaded it just now.
    if (await stat(path + TEXT).catch(() => null)) throw error
    return finished.index(checkedRef(logRef))
  })
  await logs.remove(logRef, RAW)
  return summaryOf(index)
}

async function openSpooled(logs: RawLogs, logRef: string): Promise<OpenLog | null> {
  const mark = await stat(logs.pathOf(logRef) + FINISHED).catch(() => null)
  return logs.open(logRef, mark !== null)
}

const storedAs = ({ compressed }: LogIndex) => (compressed ? STORED.gzip : STORED.plain)

/** The logs in the bucket. */
class FinishedLogs {
  readonly #bucket: Bucket
  readonly #compress: boolean
  readonly #indexes = new Map<string, LogIndex>()

  constructor(bucket: Bucket, compress: boolean) {
    this.#bucket = bucket
    this.#compress = compress
  }

  async upload(logRef: string, path: string, isTruncated: boolean): Promise<LogIndex> {
    // A process may have uploaded it and ended before it cleared the folder. If that cannot be checked, upload again.
    const existing = await this.index(logRef).catch(() => null)
    if (existing && existing.bytes === (await stat(path + TEXT)).size) return existing
    const packing = new Packing(path, { isTruncated, compress: this.#compress })
    const { index } = packing
    await this.#bucket.put(logRef + storedAs(index), packing.members())
    await this.#bucket.put(logRef + SPANS, createReadStream(path + SPANS))
    await this.#mustHave(logRef + storedAs(index), index.members.at(-1)!)
    await this.#mustHave(logRef + SPANS, (await stat(path + SPANS)).size)
    await this.#bucket.put(logRef + INDEX, [Buffer.from(JSON.stringify(index))])
    this.#indexes.delete(logRef)
    return index
  }

  async #mustHave(key: string, bytes: number): Promise<void> {
    const stored = await this.#bucket.bytes(key)
    if (stored !== bytes)
      throw new Error(
        `The bucket has ${stored ?? 'no'} bytes of ${key} instead of ${bytes}; the upload will be repeated.`,
      )
  }

  async index(logRef: string): Promise<LogIndex> {
    const cached = this.#indexes.get(logRef)
    if (cached) return cached
    const json = await orUnavailable(this.#bucket.read(logRef + INDEX))
    if (!json)
      throw new LogUnavailable(
        'The log is not in the bucket: it was deleted, or another node is still writing it.',
      )
    const index = readIndex(json.toString())
    if (this.#indexes.size >= MOST_INDEXES) this.#indexes.delete(this.#indexes.keys().next().value!)
    this.#indexes.set(logRef, index)
    return index
  }

  async open(logRef: string): Promise<OpenLog> {
    const index = await this.index(logRef)
    const range = async (key: string, from: number, to: number) => {
      const found = await orUnavailable(this.#bucket.readRange(key, from, to))
      if (found) return found
      this.#indexes.delete(logRef)
      throw new LogUnavailable('The log was deleted.')
    }
    return openFinished(index, {
      text: (from, to) => range(logRef + storedAs(index), from, to),
      spans: (from, to) => range(logRef + SPANS, from, to),
      close: async () => undefined,
    })
  }

  /** The index first, so that no one starts to read a log that is half deleted. */
  async delete(logRef: string): Promise<void> {
    this.#indexes.delete(logRef)
    for (const ending of [INDEX, ...Object.values(STORED), SPANS]) await this.#bucket.delete(logRef + ending)
  }
}

async function orUnavailable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (cause) {
    throw new LogUnavailable(`The log cannot be read from the bucket: ${(cause as Error).message}`, { cause })
  }
}
