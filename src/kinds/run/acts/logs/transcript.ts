import type { AnswerOf } from '../../../../pure/shapes.ts'
import { transcriptReader } from '../../../../transcript/reader.ts'
import type { Step, TranscriptState, TranscriptView } from '../../shapes/transcript.ts'
import { endOf, partsOf, type RunLog, STEPS_PAGE_BYTES } from './run-log.ts'
import type { LogScan } from './scan.ts'

/** Which steps: those with numbers from `first` to `last`. */
interface Stretch {
  first: number
  last: number
}

export interface Asked {
  after: number | null
  before: number | null
  limit: number
}

/** Results of the last calls are looked for in so many pages after the steps. */
const MOST_PAGES_AFTER = 8

export async function showTranscript(
  log: RunLog,
  scan: LogScan,
  asked: Asked,
): Promise<AnswerOf<typeof TranscriptView>> {
  const { total, state, isEnded } = { total: scan.total, state: scan.state(), isEnded: scan.isEnded }
  const stretch = stretchOf(asked, total)
  const isWholeRest = stretch.last === total && scan.isComplete && !isEnded
  return {
    runId: log.run.id,
    adapterType: log.run.adapterType,
    status: log.status,
    steps: stretch.first > stretch.last ? [] : await stepsIn(log, scan, stretch, state.offset),
    total,
    readBytes: scan.readBytes,
    bytes: scan.bytes,
    isComplete: scan.isComplete,
    resume: isWholeRest ? state : null,
  }
}

function stretchOf({ after, before, limit }: Asked, total: number): Stretch {
  if (before !== null) {
    const last = Math.min(before - 1, total)
    return { first: Math.max(1, (after ?? 0) + 1, last - limit + 1), last }
  }
  const first = (after ?? 0) + 1
  return { first, last: Math.min(first + limit - 1, total) }
}

/** Reads the stretch again, from the state before it. */
async function stepsIn(log: RunLog, scan: LogScan, { first, last }: Stretch, until: number): Promise<Step[]> {
  const from: TranscriptState | undefined = scan.stateBefore(first)
  const reader = transcriptReader(log.run.adapterType, from)
  const found = new Map<number, Step>()
  // What was open at the state, or is changed by the next line, may be in the stretch.
  const keep = (steps: readonly Step[]) => {
    for (const step of steps) if (step.n >= first && step.n <= last) found.set(step.n, step)
  }
  let pagesAfter = 0
  for (let at = from?.offset ?? 0; at < until && pagesAfter <= MOST_PAGES_AFTER; ) {
    const page = await log.pageAt(at, STEPS_PAGE_BYTES)
    for await (const { offset, stream, ts, text } of partsOf(page))
      keep(reader.take(offset, stream, text, ts))
    const end = endOf(page)
    if (end === at) break
    at = end
    if (found.has(last) && reader.state().n > last) {
      if (![...found.values()].some(({ isOpen }) => isOpen)) break
      pagesAfter++
    }
  }
  if (scan.isEnded && reader.state().offset >= until) keep(reader.end())
  return [...found.values()].sort((a, b) => a.n - b.n)
}
