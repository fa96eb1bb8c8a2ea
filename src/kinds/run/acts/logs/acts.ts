import { Readable } from 'node:stream'
import { numberIn } from '../../../../door/asked.ts'
import { actsOf, type Door } from '../../../../door/door.ts'
import type { Caller } from '../../../../kernel/kernel.ts'
import { Refused } from '../../../../pure/errors.ts'
import * as api from '../../api/logs.ts'
import { bytesOf, rangeIn, sizeOf } from './raw.ts'
import { openRunLog } from './run-log.ts'
import { LogScans } from './scan.ts'
import { searchLog } from './search.ts'
import { tailsOf } from './tails.ts'
import { showTranscript } from './transcript.ts'

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
