import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Execution, LogPage } from '../../../../door/execution.ts'
import type { ServerKernel } from '../../../../door/server-kernel.ts'
import type { Caller } from '../../../../kernel/kernel.ts'
import { Refused } from '../../../../pure/errors.ts'
import type { NamedRun } from '../../postgres/run-reads.ts'
import type { Step } from '../../shapes/transcript.ts'
import { isOver } from '../../states.ts'
import { requireRun } from '../runs.ts'

/** As much of a log as is in memory for a request. */
export const PAGE_BYTES = 1024 * 1024
/** As much as is read as steps with one read. */
export const STEPS_PAGE_BYTES = 256 * 1024
/** As much as is read as steps without a pause: with a step for every two bytes, a tenth of a second. */
const STEPS_AT_ONCE_BYTES = 32 * 1024
const LONGEST_HOLD_MS = 20

/** The log of a run, read page by page, wherever it is stored or written. */
export interface RunLog {
  run: NamedRun
  status: 'writing' | 'available'
  pageAt(offset: number, limitBytes?: number): Promise<LogPage>
}

export async function openRunLog(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  runId: string,
): Promise<RunLog> {
  const run = await requireRun(kernel, caller, runId)
  if (run.logRef === null)
    throw new Refused('LOG_UNAVAILABLE', 'The run has no log: it has not started, or never did.')
  return {
    run,
    status: isOver(run.status) ? 'available' : 'writing',
    async pageAt(offset, limitBytes = PAGE_BYTES) {
      const page = run.logGoneAt === null ? await execution.readLog(run, { offset, limitBytes }) : null
      if (page) return page
      throw new Refused('LOG_UNAVAILABLE', 'The log was deleted, or no node that has it answers.')
    },
  }
}

/** Where a page ends in the log. */
export const endOf = ({ offset, content }: LogPage): number => offset + Buffer.byteLength(content)

export interface LogPart {
  offset: number
  stream: Step['stream']
  ts: string | null
  text: string
}

/** A page by stream, in short pieces, so that others get their turn in between. */
export async function* partsOf(page: LogPage): AsyncGenerator<LogPart> {
  const text = Buffer.from(page.content)
  let pausedAt = performance.now()
  for (const { from, to, stream, ts } of stretchesOf(page, text.length)) {
    for (let at = from; at < to; ) {
      const end = at + wholeCharacters(text.subarray(at - page.offset, to - page.offset), STEPS_AT_ONCE_BYTES)
      yield { offset: at, stream, ts, text: text.toString('utf8', at - page.offset, end - page.offset) }
      at = end
      if (performance.now() - pausedAt < LONGEST_HOLD_MS) continue
      await nextTurn()
      pausedAt = performance.now()
    }
  }
}

interface Stretch extends Pick<LogPart, 'stream' | 'ts'> {
  from: number
  to: number
}

/** Text whose stream is not on record counts as stdout. */
function* stretchesOf({ offset, spans }: LogPage, bytes: number): Generator<Stretch> {
  const end = offset + bytes
  let at = offset
  for (const span of spans) {
    if (span.offset > at) yield { from: at, to: span.offset, stream: 'stdout', ts: null }
    const to = Math.min(span.offset + span.bytes, end)
    if (to > span.offset) yield { from: span.offset, to, stream: span.stream as Step['stream'], ts: span.ts }
    at = to
  }
  if (at < end) yield { from: at, to: end, stream: 'stdout', ts: null }
}

/** How many bytes of the text, at most so many, are whole characters. */
export function wholeCharacters(text: Buffer, most: number): number {
  if (text.length <= most) return text.length
  let end = most
  while (end > 0 && isInside(text[end]!)) end--
  return end === 0 ? most : end
}

/** Whether this byte continues a character. */
export const isInside = (byte: number) => (byte & 0xc0) === 0x80
