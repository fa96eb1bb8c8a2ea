import { Readable } from 'node:stream'
import { numberIn } from '../../../../door/asked.ts'
import { actsOf, type Door } from '../../../../door/door.ts'
import type { Execution } from '../../../../door/execution.ts'
import type { ServerKernel } from '../../../../door/server-kernel.ts'
import type { Caller } from '../../../../kernel/kernel.ts'
import { Refused } from '../../../../pure/errors.ts'
import type { AnswerOf } from '../../../../pure/shapes.ts'
import * as api from '../../api/logs.ts'
import type { TailsAnswer } from '../../shapes/logs.ts'
import { readRunLog } from '../runs.ts'
import { endOf, openRunLog, type RunLog } from './run-log.ts'
import { LogScans } from './scan.ts'
import { searchLog } from './search.ts'
import { showTranscript } from './transcript.ts'

/** The bytes of a log as they are. */

/** The first and the last byte, both included. */
export interface ByteRange {
  first: number
  last: number
}

const sizeOf = async (log: RunLog): Promise<number> => (await log.pageAt(0, 1)).bytes

/** Null: there is no range, or one of a form that servers may ignore (several ranges, other units). */
function rangeIn(header: string | undefined, bytes: number): ByteRange | null {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(' ', '') ?? '') ?? []
  if (from === '' && to === '') return null
  const range =
    from === ''
      ? { first: Math.max(0, bytes - Number(to)), last: bytes - 1 }
      : { first: Number(from), last: to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1) }
  if (from !== '' && to !== '' && Number(to) < Number(from)) return null
  if (range.first > range.last)
    throw new Refused('RANGE_NOT_SATISFIABLE', `The log has ${bytes} bytes now.`, { bytes })
  return range
}

/** The most bytes of a character before its last. */
const MORE_BYTES = 3

/** Pages begin and end with whole characters; a range may begin and end anywhere. */
async function* bytesOf(log: RunLog, { first, last }: ByteRange): AsyncGenerator<Buffer> {
  for (let at = first; at <= last; ) {
    const page = await log.pageAt(Math.max(0, at - MORE_BYTES))
    const text = Buffer.from(page.content).subarray(at - page.offset, last + 1 - page.offset)
    if (text.length === 0) return
    yield text
    at = Math.min(endOf(page), last + 1)
  }
}

type Tail = AnswerOf<typeof TailsAnswer>['items'][number]

/** The ends of several logs. What is not in this workspace, or has no log, is left out. */
async function tailsOf(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  ids: readonly string[],
  limitBytes: number,
): Promise<Tail[]> {
  const tailOf = async (id: string): Promise<Tail[]> => {
    try {
      const log = await readRunLog(kernel, execution, caller, id, { offset: 'tail', limitBytes })
      const { status, runId, offset, content, spans } = log
      return status === 'log_unavailable' ? [] : [{ runId, offset, content, spans }]
    } catch (error) {
      if (error instanceof Refused && error.code === 'NOT_FOUND') return []
      throw error
    }
  }
  return (await Promise.all([...new Set(ids)].map(tailOf))).flat()
}

/** A request reads as much of a large log as it can in this time; the next request continues. */
const READ_FOR_MS = 1_000

const timeLimit = () => {
  const until = performance.now() + READ_FOR_MS
  return () => performance.now() >= until
}

const open = ({ kernel, execution }: Door, caller: Caller, runId: string) =>
  openRunLog(kernel, execution, caller, runId)

async function scanned(door: Door, caller: Caller, runId: string) {
  const log = await open(door, caller, runId)
  const scan = door.shared(LogScans).of(log)
  await scan.advance(log, timeLimit())
  return { log, scan }
}

export const runLogActs = actsOf(api)({
  searchRunLog: async (door, { params, query, caller, page }) => {
    const log = await open(door, caller, params.id)
    const { q } = query
    // After the run: one of another workspace is unknown, whatever is asked of it.
    if (q === undefined) throw Refused.field('VALIDATION_FAILED', 'q', 'is the text to look for')
    const [listFrom, counted, countedTo] = page.after ?? [0, 0, 0]
    const cursor = page.after ? { listFrom, counted, countedTo } : null
    const asked = { q, isCaseSensitive: query.case === 'sensitive', limit: page.limit, cursor }
    const { next, ...found } = await searchLog(log, asked, timeLimit())
    return { ...found, nextCursor: page.next(next && [next.listFrom, next.counted, next.countedTo]) }
  },
  outlineRunLog: async (door, { params, caller }) => {
    const { log, scan } = await scanned(door, caller, params.id)
    return scan.outline(log)
  },
  readTranscript: async (door, { params, query, caller, page: { limit } }) => {
    const { log, scan } = await scanned(door, caller, params.id)
    const { after, before } = query
    return showTranscript(log, scan, {
      after: numberIn(after) ?? null,
      before: numberIn(before) ?? null,
      limit,
    })
  },
  readTails: async ({ kernel, execution }, { body, caller }) => ({
    items: await tailsOf(kernel, execution, caller, body.ids, body.bytes),
  }),
  readRawRunLog: async (door, { params, headers, caller, reply }) => {
    const log = await open(door, caller, params.id)
    const bytes = await sizeOf(log)
    reply.header('accept-ranges', 'bytes')
    // The refusal of a range says so, too.
    reply.header('content-range', `bytes */${bytes}`)
    const range = rangeIn(headers.range, bytes)
    if (range) reply.header('content-range', `bytes ${range.first}-${range.last}/${bytes}`)
    else reply.removeHeader('content-range')
    const { first, last } = range ?? { first: 0, last: bytes - 1 }
    reply.header('content-disposition', `attachment; filename="run-${params.id}.log"`)
    reply.header('content-length', last - first + 1)
    reply.header('content-type', 'text/plain; charset=utf-8')
    return { status: range ? 206 : 200, answer: Readable.from(bytesOf(log, { first, last })) }
  },
})
