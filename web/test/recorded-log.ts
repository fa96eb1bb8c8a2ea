import { type Line, type LogPageText, linesOfPage } from '../src/logs/lines.ts'

/** A log as a server keeps it, and pages of it as a server answers them: whole characters, with the spans of both streams. */

interface Span {
  offset: number
  bytes: number
  stream: string
  ts: string
}

export interface RecordedLog {
  bytes: Uint8Array
  spans: Span[]
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export const sizeOf = (text: string) => encoder.encode(text).length

/** The text of these bytes. */
export const textAt = ({ bytes }: RecordedLog, from: number, to: number) =>
  decoder.decode(bytes.subarray(from, to))

export function recorded(pieces: readonly (readonly [stream: string, text: string])[]): RecordedLog {
  const spans: Span[] = []
  let offset = 0
  for (const [index, [stream, text]] of pieces.entries()) {
    const bytes = sizeOf(text)
    spans.push({ offset, bytes, stream, ts: new Date(Date.UTC(2026, 0, 1) + index * 1_000).toISOString() })
    offset += bytes
  }
  return { bytes: encoder.encode(pieces.map(([, text]) => text).join('')), spans }
}

const isRest = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

export function pageOfLog(log: RecordedLog, offset: number, limitBytes: number): LogPageText {
  const { bytes, spans } = log
  let from = Math.min(offset, bytes.length)
  while (isRest(bytes[from])) from += 1
  let to = Math.min(offset + limitBytes, bytes.length)
  while (to > from && isRest(bytes[to])) to -= 1
  const within = spans
    .map((span) => {
      const start = Math.max(span.offset, from)
      return { ...span, offset: start, bytes: Math.min(span.offset + span.bytes, to) - start }
    })
    .filter(({ bytes: size }) => size > 0)
  return { offset, content: textAt(log, from, Math.max(from, to)), spans: within }
}

export const linesOfLog = (log: RecordedLog): readonly Line[] =>
  linesOfPage(pageOfLog(log, 0, log.bytes.length))

/** What programs print: colours, progress bars, links, several scripts, two streams that interrupt each other. */
export const RECORDED = recorded([
  ['system', 'Started /usr/bin/agent\n'],
  ['stdout', '\u001b[1m\u001b[32m✔\u001b[39m\u001b[22m installed in 3 s\r\n'],
  ['stdout', 'Downloading  10 %\rDownloading  55 %\rDownloading 100 %\n'],
  ['stderr', 'warning: deprecated\nnpm \u001b[31mERR!\u001b[0m code '],
  ['stdout', '{"type":"assistant","text":"Grüße, 世界 🚀"}\n'],
  ['stderr', 'E404\n\n'],
  ['stdout', 'see \u001b]8;;https://example.com/a?b=1\u001b\\the docs\u001b]8;;\u0007 now\n'],
  ['stdout', '\u001b[2K\u001b[1G⠋ building\u001b[2K\u001b[1G⠙ building\u001b[2K\u001b[1Gbuilt\n'],
  ['stdout', '<img src=x onerror=alert(1)> \u202egnp.exe\u0000 \b\b\b'],
  ['stdout', 'שלום عالم 👩‍👩‍👧 end\nno line end'],
])
