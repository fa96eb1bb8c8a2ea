import { StringDecoder } from 'node:string_decoder'
import { brokenAtStart, charactersBytes, wholeUntil } from './pieces.ts'
import type { LogPage, LogSpan, LogStream } from './protocol.ts'

/** A log opened for reading, wherever it is stored. */
export interface OpenLog {
  bytes: number
  /** Whether no more will come. */
  isFinal: boolean
  textAt(from: number, to: number): Promise<Buffer>
  /** The spans with bytes in this range; they may extend beyond it. */
  spansAt(from: number, to: number): Promise<LogSpan[]>
  close(): Promise<void>
}

const USUAL_PAGE_BYTES = 256 * 1024
/** A request for more gets this much; the client reads the next page. */
const LARGEST_PAGE_BYTES = 8 * 1024 * 1024
/** The bytes in memory while a stream is read. */
const WINDOW_BYTES = 1024 * 1024
/** The most bytes of a character after its first. */
const MORE_BYTES = 3

/** A page of whole characters: at least one, if available, even when it is larger than the limit. */
export async function pageOf(
  log: OpenLog,
  { offset = 0, limitBytes = USUAL_PAGE_BYTES }: { offset?: number; limitBytes?: number } = {},
): Promise<LogPage> {
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new RangeError('offset must be a whole number, 0 or more.')
  if (!Number.isSafeInteger(limitBytes) || limitBytes < 1)
    throw new RangeError('limitBytes must be a whole number, 1 or more.')
  const limit = Math.min(limitBytes, LARGEST_PAGE_BYTES)
  const from = Math.min(offset, log.bytes)
  const text = await log.textAt(from, Math.min(log.bytes, from + limit + 2 * MORE_BYTES))
  const skipped = brokenAtStart(text)
  let end = wholeUntil(text, Math.min(limit, text.length))
  if (end <= skipped && skipped < text.length) {
    const first = skipped + charactersBytes(text[skipped]!)
    // An incomplete character waits for its rest; in a finished log no rest will come.
    end = first <= text.length ? first : log.isFinal ? text.length : skipped
  }
  const next = from + Math.max(end, skipped)
  return {
    content: text.toString('utf8', skipped, end),
    offset: from + skipped,
    bytes: log.bytes,
    nextOffset: log.isFinal && next >= log.bytes ? null : next,
    spans: end > skipped ? await spansWithin(log, from + skipped, next) : [],
  }
}

async function spansWithin(log: OpenLog, from: number, to: number): Promise<LogSpan[]> {
  const spans = await log.spansAt(from, to)
  return spans
    .map(({ offset, bytes, stream, ts }) => {
      const start = Math.max(offset, from)
      return { offset: start, bytes: Math.min(offset + bytes, to) - start, stream, ts }
    })
    .filter(({ bytes }) => bytes > 0)
}

/** The text of one stream, window by window. The log is reopened for each window, since it may be moved meanwhile. */
export async function* streamOf(open: () => Promise<OpenLog>, stream: LogStream): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  let end: number | null = null
  for (let from = 0; end === null || from < end; from += WINDOW_BYTES) {
    const log = await open()
    let content = ''
    try {
      end ??= log.bytes
      const to = Math.min(from + WINDOW_BYTES, end)
      if (from >= to) break
      const text = await log.textAt(from, to)
      for (const span of await spansWithin(log, from, to))
        if (span.stream === stream)
          content += decoder.write(text.subarray(span.offset - from, span.offset - from + span.bytes))
    } finally {
      await log.close()
    }
    if (content !== '') yield content
  }
  const rest = decoder.end()
  if (rest !== '') yield rest
}
