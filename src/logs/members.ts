import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { z } from 'zod'
import type { OpenLog } from './pages.ts'
import { type LogSpan, type LogSummary, LogUnavailable } from './protocol.ts'
import { SPANS, TEXT } from './raw-log.ts'
import { decodeSpans, firstSpanBeyond, readInto, SPAN_BYTES, spanCount } from './spans.ts'

/**
 * A finished log: concatenated gzip members of 1 MB of text each, which any gunzip reads as one text. The index has the
 * start of each member, so a page is read without unpacking what comes before it.
 */

const MEMBER_BYTES = 1024 * 1024
/** Logs are repetitive: more effort would hardly make them smaller, and agents need the same cores. */
const LEVEL = 3
/** For all logs together: runs often end at the same moment, and each member needs memory for itself twice. */
const AT_ONCE = 2

const Index = z.object({
  version: z.literal(1),
  bytes: z.number(),
  sha256: z.string(),
  truncated: z.boolean(),
  /** The start of each member in the compressed file, then the end of the last one. */
  members: z.array(z.number()),
  /** For each member the number of the first span with bytes in it, then the number of spans. */
  spans: z.array(z.number()),
})
export type LogIndex = z.infer<typeof Index>

export function readIndex(json: string): LogIndex {
  try {
    return Index.parse(JSON.parse(json))
  } catch (cause) {
    throw new LogUnavailable('The log exists, but its index cannot be read.', { cause })
  }
}

export const summaryOf = ({ bytes, sha256, truncated }: LogIndex): LogSummary => ({
  bytes,
  sha256,
  compressed: true,
  truncated,
})

/** The few buffers into which members are read, lent in the order of the requests. */
class BufferPool {
  readonly #free = Array.from({ length: AT_ONCE }, () => Buffer.allocUnsafe(MEMBER_BYTES))
  readonly #waiting: ((buffer: Buffer<ArrayBuffer>) => void)[] = []

  async lend<T>(act: (buffer: Buffer) => Promise<T>): Promise<T> {
    const buffer =
      this.#free.pop() ?? (await new Promise<Buffer<ArrayBuffer>>((resolve) => this.#waiting.push(resolve)))
    try {
      return await act(buffer)
    } finally {
      const next = this.#waiting.shift()
      if (next) next(buffer)
      else this.#free.push(buffer)
    }
  }
}
const buffers = new BufferPool()

/** Compresses a closed raw log, one member at a time. The index is complete when the last member was taken. */
export class Compression {
  readonly #path: string
  readonly index: LogIndex

  constructor(path: string, isTruncated: boolean) {
    this.#path = path
    this.index = { version: 1, bytes: 0, sha256: '', truncated: isTruncated, members: [0], spans: [] }
  }

  async *members(): AsyncGenerator<Buffer> {
    const { index } = this
    const text = await open(this.#path + TEXT)
    try {
      const spans = await open(this.#path + SPANS)
      try {
        const hash = createHash('sha256')
        const count = await spanCount(spans)
        for (;;) {
          const { bytes, compressed } = await buffers.lend(async (buffer) => {
            const member = await readInto(buffer, text, index.bytes)
            if (member.length === 0) return { bytes: 0, compressed: member }
            hash.update(member)
            return { bytes: member.length, compressed: await promisify(gzip)(member, { level: LEVEL }) }
          })
          if (bytes === 0) break
          index.spans.push(await firstSpanBeyond(spans, count, index.bytes))
          index.bytes += bytes
          index.members.push(index.members.at(-1)! + compressed.length)
          yield compressed
        }
        index.spans.push(count)
        index.sha256 = hash.digest('hex')
      } finally {
        await spans.close()
      }
    } finally {
      await text.close()
    }
  }
}

/** Access to the parts of a finished log. Each returns the available bytes of a range. */
export interface FinishedParts {
  text(from: number, to: number): Promise<Buffer>
  spans(from: number, to: number): Promise<Buffer>
  close(): Promise<void>
}

export function openFinished(index: LogIndex, parts: FinishedParts): OpenLog {
  const { bytes, members, spans } = index
  const memberAt = async (i: number) => {
    const compressed = await parts.text(members[i]!, members[i + 1]!)
    return promisify(gunzip)(compressed, { maxOutputLength: MEMBER_BYTES }).catch((cause) => {
      throw new LogUnavailable('The log exists, but it is damaged.', { cause })
    })
  }
  return {
    bytes,
    isFinal: true,
    async textAt(from, to) {
      const found: Buffer[] = []
      for (let at = from, end = Math.min(to, bytes); at < end; ) {
        const i = Math.floor(at / MEMBER_BYTES)
        const member = await memberAt(i)
        const start = at - i * MEMBER_BYTES
        found.push(member.subarray(start, start + end - at))
        at = (i + 1) * MEMBER_BYTES
      }
      return Buffer.concat(found)
    },
    async spansAt(from, to) {
      const end = Math.min(to, bytes)
      if (from >= end) return []
      const first = spans[Math.floor(from / MEMBER_BYTES)]!
      const next = spans[Math.floor((end - 1) / MEMBER_BYTES) + 1]!
      // The first span of the next member may start in this one.
      const last = Math.min(next + 1, spans.at(-1)!)
      const touches = ({ offset, bytes }: LogSpan) => offset < end && offset + bytes > from
      return decodeSpans(await parts.spans(first * SPAN_BYTES, last * SPAN_BYTES)).filter(touches)
    },
    close: () => parts.close(),
  }
}
