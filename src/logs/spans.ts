import type { FileHandle } from 'node:fs/promises'
import type { LogSpan, LogStream } from './protocol.ts'

/**
 * Spans in a file: one line of JSON each, all of the same length, so that the span of an offset is found by binary search.
 * There are no gaps between them.
 */

export const SPAN_BYTES = 64
const AT_ONCE = 256

export const encodeSpan = ({ offset, bytes, stream, ts }: LogSpan): string =>
  `[${String(offset).padStart(14)},${String(bytes).padStart(10)},"${stream}","${ts}"]\n`

export function decodeSpans(lines: Buffer): LogSpan[] {
  const spans: LogSpan[] = []
  for (let at = 0; at + SPAN_BYTES <= lines.length; at += SPAN_BYTES) {
    const [offset, bytes, stream, ts] = JSON.parse(lines.toString('latin1', at, at + SPAN_BYTES)) as [
      number,
      number,
      LogStream,
      string,
    ]
    spans.push({ offset, bytes, stream, ts })
  }
  return spans
}

/** The existing bytes of this range. */
export const readAt = (file: FileHandle, from: number, to: number): Promise<Buffer> =>
  readInto(Buffer.allocUnsafe(Math.max(0, to - from)), file, from)

/** Fills the buffer as far as possible and returns the filled part. */
export async function readInto(buffer: Buffer, file: FileHandle, from: number): Promise<Buffer> {
  let filled = 0
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, from + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

export const spanCount = async (file: FileHandle) => Math.floor((await file.stat()).size / SPAN_BYTES)

export const spansFrom = async (file: FileHandle, first: number, count: number) =>
  decodeSpans(await readAt(file, first * SPAN_BYTES, (first + count) * SPAN_BYTES))

/** The number of the first span that ends after this offset. */
export async function firstSpanBeyond(file: FileHandle, count: number, offset: number): Promise<number> {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    const [span] = await spansFrom(file, middle, 1)
    if (span!.offset + span!.bytes > offset) high = middle
    else low = middle + 1
  }
  return low
}

/** The spans with bytes in this range. */
export async function spansBetween(file: FileHandle, from: number, to: number): Promise<LogSpan[]> {
  const count = await spanCount(file)
  const found: LogSpan[] = []
  for (let at = await firstSpanBeyond(file, count, from); at < count; at += AT_ONCE) {
    const spans = await spansFrom(file, at, Math.min(AT_ONCE, count - at))
    for (const span of spans) {
      if (span.offset >= to) return found
      found.push(span)
    }
  }
  return found
}
