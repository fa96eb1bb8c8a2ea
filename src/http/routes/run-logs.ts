import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { MOST_HITS, outlineRunLog, readRawRunLog, readTails, searchRunLog } from '../../core/api/run-logs.ts'
import { MOST_STEPS, readTranscript } from '../../core/api/transcript.ts'
import { Refused } from '../../core/errors.ts'
import type { Execution } from '../../flow/execution.ts'
import { bytesOf, rangeIn, sizeOf } from '../../flow/run-logs/raw.ts'
import { openRunLog } from '../../flow/run-logs/run-log.ts'
import { LogScans } from '../../flow/run-logs/scan.ts'
import { searchLog } from '../../flow/run-logs/search.ts'
import { tailsOf } from '../../flow/run-logs/tails.ts'
import { showTranscript } from '../../flow/run-logs/transcript.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { cursorWith, valuesIn } from '../cursor.ts'
import { serve } from '../endpoint.ts'
import { pageSize } from '../schema.ts'

/** A request reads as much of a large log as it can in this time; the next request continues. */
const READ_FOR_MS = 1_000
const USUAL_HITS = 100
const USUAL_STEPS = 100

const timeLimit = () => {
  const until = performance.now() + READ_FOR_MS
  return () => performance.now() >= until
}

const Place = z.int().min(0)
const Cursor = z
  .tuple([Place, Place, Place])
  .transform(([listFrom, counted, countedTo]) => ({ listFrom, counted, countedTo }))

export function runLogRoutes(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  const scans = new LogScans()
  const open = (caller: Caller, runId: string) => openRunLog(kernel, execution, caller, runId)

  serve(app, searchRunLog, async ({ params, query, caller }) => {
    const { q } = query
    const cursor = query.after === undefined ? null : valuesIn(query.after, Cursor, 'after')
    const log = await open(caller, params.id)
    // After the run: one of another workspace is unknown, whatever is asked of it.
    if (q === undefined) throw Refused.field('VALIDATION_FAILED', 'q', 'is the text to look for')
    const isCaseSensitive = query.case === 'sensitive'
    const limit = pageSize(query.limit, { usual: USUAL_HITS, most: MOST_HITS })
    const { next, ...found } = await searchLog(log, { q, isCaseSensitive, limit, cursor }, timeLimit())
    return { ...found, nextCursor: next && cursorWith([next.listFrom, next.counted, next.countedTo]) }
  })

  serve(app, outlineRunLog, async ({ params, caller }) => {
    const log = await open(caller, params.id)
    const scan = scans.of(log)
    await scan.advance(log, timeLimit())
    return scan.outline(log)
  })

  serve(app, readTranscript, async ({ params, query, caller }) => {
    const log = await open(caller, params.id)
    const scan = scans.of(log)
    await scan.advance(log, timeLimit())
    return showTranscript(log, scan, {
      after: query.after === undefined ? null : Number(query.after),
      before: query.before === undefined ? null : Number(query.before),
      limit: pageSize(query.limit, { usual: USUAL_STEPS, most: MOST_STEPS }),
    })
  })

  serve(app, readTails, async ({ body, caller }) => ({
    items: await tailsOf(kernel, execution, caller, body.ids, body.bytes),
  }))

  serve(app, readRawRunLog, async ({ params, headers, caller }, reply) => {
    const log = await open(caller, params.id)
    const bytes = await sizeOf(log)
    reply.header('accept-ranges', 'bytes').header('content-range', `bytes */${bytes}`)
    const range = rangeIn(headers.range, bytes)
    if (range) reply.code(206).header('content-range', `bytes ${range.first}-${range.last}/${bytes}`)
    else reply.removeHeader('content-range')
    const { first, last } = range ?? { first: 0, last: bytes - 1 }
    return reply
      .header('content-disposition', `attachment; filename="run-${params.id}.log"`)
      .header('content-length', last - first + 1)
      .type('text/plain; charset=utf-8')
      .send(Readable.from(bytesOf(log, { first, last })))
  })
}
