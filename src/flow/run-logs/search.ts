import type { AnswerOf } from '../../core/shapes/common.ts'
import type { LogSearchView } from '../../core/shapes/run-logs.ts'
import { hitsIn, MARGIN_BYTES, patternFor } from './hits.ts'
import { PAGE_BYTES, type RunLog } from './run-log.ts'

type Answer = AnswerOf<typeof LogSearchView>

/** Where a search continues: it lists hits from `listFrom` on, and has counted those up to `countedTo`. */
export interface SearchCursor {
  listFrom: number
  counted: number
  countedTo: number
}

const BEGINNING: SearchCursor = { listFrom: 0, counted: 0, countedTo: 0 }

export interface Search {
  q: string
  isCaseSensitive: boolean
  limit: number
  cursor: SearchCursor | null
}

/**
 * Lists the next hits and counts all of them, until the log ends or the time is up. What is counted already is not counted
 * again with the next page of hits.
 */
export async function searchLog(
  log: RunLog,
  { q, isCaseSensitive, limit, cursor }: Search,
  isTimeUp: () => boolean,
): Promise<Omit<Answer, 'nextCursor'> & { next: SearchCursor | null }> {
  const pattern = patternFor(q, isCaseSensitive)
  let { listFrom, counted, countedTo } = cursor ?? BEGINNING
  const listed: Answer['hits'][number][] = []
  let isEnd = false
  let bytes = 0
  do {
    const isListing = listed.length < limit
    const from = isListing ? listFrom : countedTo
    const start = Math.max(0, from - MARGIN_BYTES)
    const page = await log.pageAt(start, PAGE_BYTES + MARGIN_BYTES)
    const { hits, next } = hitsIn(page, pattern, Math.min(from, page.bytes))
    bytes = page.bytes
    counted += hits.filter(({ offset }) => offset >= countedTo).length
    countedTo = Math.max(countedTo, next)
    const fitting = isListing ? hits.slice(0, limit - listed.length) : []
    const last = fitting.at(-1)
    listed.push(...fitting)
    // What is not listed is listed with the next page.
    if (fitting.length === hits.length) listFrom = listFrom === from ? next : listFrom
    else if (last) listFrom = last.offset + last.bytes
    isEnd = countedTo >= bytes
  } while (!(isEnd && (listed.length === limit || listFrom >= bytes)) && !isTimeUp())
  const isAllListed = isEnd && listFrom >= bytes
  return {
    runId: log.run.id,
    status: log.status,
    bytes,
    readBytes: countedTo,
    hits: listed,
    total: counted,
    isComplete: isEnd,
    next: isAllListed ? null : { listFrom, counted, countedTo },
  }
}
