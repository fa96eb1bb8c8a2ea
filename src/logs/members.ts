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
 * A finished log: concatenated gzip members of 1 MB of text each, which any gunzip reads as one text, or the text itself,
 * if its store was told not to compress. The index has the start of each member, so a page is read without unpacking what
 * comes before it.
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
  /** False: the members are the text. Missing in the indexes of logs from before there was a choice. */
  compressed: z.boolean().default(true),
  /** The start of each member in the stored file, then the end of the last one. */
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

export const summaryOf = ({ bytes, sha256, compressed, truncated }: LogIndex): LogSummary => ({
  bytes,
  sha256,
  compressed,
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

/** Reads a closed raw log, one member at a time, as it will be stored. The index is complete when the last member was taken. */
export class Packing {
  readonly #path: string
  readonly index: LogIndex

  constructor(path: string, { isTruncated, compress }: { isTruncated: boolean; compress: boolean }) {
    this.#path = path
    this.index = {
      ...{ version: 1, bytes: 0, sha256: '', truncated: isTruncated, compressed: compress },
      ...{ members: [0], spans: [] },
    }
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
          const { bytes, stored } = await buffers.lend(async (buffer) => {
            const member = await readInto(buffer, text, index.bytes)
            if (member.length === 0) return { bytes: 0, stored: member }
            hash.update(member)
            return { bytes: member.length, stored: await this.#stored(member) }
          })
          if (bytes === 0) break
          index.spans.push(await firstSpanBeyond(spans, count, index.bytes))
          index.bytes += bytes
          index.members.push(index.members.at(-1)! + stored.length)
          yield stored
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

  /** A copy, since the buffer of the member is lent to others next. */
  async #stored(member: Buffer): Promise<Buffer> {
    return this.index.compressed ? promisify(gzip)(member, { level: LEVEL }) : Buffer.from(member)
  }
}

/** Access to the parts of a finished log. Each returns the available bytes of a range. */
export interface FinishedParts {
  text(from: number, to: number): Promise<Buffer>
  spans(from: number, to: number): Promise<Buffer>
  close(): Promise<void>
}

const damaged = (cause?: unknown) => new LogUnavailable('The log exists, but it is damaged.', { cause })

export function openFinished(index: LogIndex, parts: FinishedParts): OpenLog {
  const { bytes, members, spans, compressed: isCompressed } = index
  const plainAt = async (from: number, to: number) => {
    const text = from < to ? await parts.text(from, to) : Buffer.alloc(0)
    if (text.length < to - from) throw damaged()
    return text
  }
  const memberAt = async (i: number) => {
    const compressed = await parts.text(members[i]!, members[i + 1]!)
    return promisify(gunzip)(compressed, { maxOutputLength: MEMBER_BYTES }).catch((cause) => {
      throw damaged(cause)
    })
  }
  return {
    bytes,
    isFinal: true,
    async textAt(from, to) {
      if (!isCompressed) return plainAt(from, Math.min(to, bytes))
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
