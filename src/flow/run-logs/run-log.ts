import { Refused } from '../../core/errors.ts'
import { isOver } from '../../core/runs/states.ts'
import type { Step } from '../../core/shapes/transcript.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { NamedRun } from '../../store/server-store.ts'
import type { Execution, LogPage } from '../execution.ts'
import { requireRun } from '../runs.ts'

/** As much of a log as is in memory for a request. */
export const PAGE_BYTES = 1024 * 1024
/** As much as is read as steps without a pause: other requests wait meanwhile, some milliseconds. */
export const STEPS_AT_ONCE_BYTES = 256 * 1024

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

/** A page by stream. Text whose stream is not on record counts as stdout. */
export function* partsOf({ offset, content, spans }: LogPage): Generator<LogPart> {
  const text = Buffer.from(content)
  const end = offset + text.length
  let at = offset
  for (const span of spans) {
    if (span.offset > at) yield part(text, offset, at, span.offset, 'stdout', null)
    const to = Math.min(span.offset + span.bytes, end)
    if (to > span.offset) yield part(text, offset, span.offset, to, span.stream as Step['stream'], span.ts)
    at = to
  }
  if (at < end) yield part(text, offset, at, end, 'stdout', null)
}

const part = (
  text: Buffer,
  offset: number,
  from: number,
  to: number,
  stream: Step['stream'],
  ts: string | null,
): LogPart => ({ offset: from, stream, ts, text: text.toString('utf8', from - offset, to - offset) })
